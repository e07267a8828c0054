import { X } from 'lucide-react';
import { type ReactNode, useSyncExternalStore } from 'react';
import { asApiError } from '../api/api-error.ts';
import { Button, IconButton } from './button.tsx';
import { cx } from './class-names.ts';
import { Sentence } from './sentence.tsx';
import styles from './toasts.module.css';

export interface Toast {
  readonly id: number;
  readonly tone: 'good' | 'bad' | 'info';
  readonly text: ReactNode;
  /** A button, such as Undo. */
  readonly action?: { readonly label: string; readonly onSelect: () => void } | undefined;
}

const SHOWN_MS = 6_000;
const WITH_ACTION_MS = 10_000;
const MOST = 4;

let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const dismiss = (id: number): void => set(toasts.filter((toast) => toast.id !== id));

function show(tone: Toast['tone'], text: ReactNode, action?: Toast['action']): void {
  const id = nextId++;
  set([...toasts, { id, tone, text, action }].slice(-MOST));
  setTimeout(() => dismiss(id), action ? WITH_ACTION_MS : SHOWN_MS);
}

/** Short messages at the edge of the window: what was done, with a way to undo it, or why it was not. */
export const toast = {
  done: (text: ReactNode, action?: Toast['action']) => show('good', text, action),
  info: (text: ReactNode, action?: Toast['action']) => show('info', text, action),
  failed: (cause: unknown, action?: Toast['action']) =>
    show('bad', <Sentence text={asApiError(cause).message} />, action),
};

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <section className={styles.toasts} aria-label="Messages" aria-live="polite">
      {shown.map(({ id, tone, text, action }) => (
        <div key={id} className={cx(styles.toast, styles[tone])}>
          <span className={styles.text}>{text}</span>
          {action && (
            <Button
              size="small"
              onClick={() => {
                dismiss(id);
                action.onSelect();
              }}
            >
              {action.label}
            </Button>
          )}
          <IconButton icon={X} label="Dismiss" size="small" onClick={() => dismiss(id)} />
        </div>
      ))}
    </section>
  );
}
