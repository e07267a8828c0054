import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { cx } from './class-names.ts';
import { Field, TextInput } from './field.tsx';
import styles from './overlay.module.css';
import { FailureNotice } from './states.tsx';

interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly about?: ReactNode;
  /** `sheet` fills the right side of the window, for details beside a list. */
  readonly shape?: 'normal' | 'wide' | 'sheet';
  /** The buttons at the bottom. */
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

/**
 * The first field of the content gets the focus, else the dialog itself. On the button that closes it, Escape would
 * close the button's tip first and the dialog only with a second press.
 */
function focusBody(event: Event): void {
  event.preventDefault();
  const content = event.currentTarget as HTMLElement;
  const field = content.querySelector<HTMLElement>('input:not([disabled]), select, textarea');
  (field ?? content).focus();
}

export function Dialog({ isOpen, onClose, title, about, shape = 'normal', actions, children }: DialogProps) {
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => open || onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={styles.backdrop} />
        <Radix.Content
          className={cx(styles.dialog, shape === 'wide' && styles.wide, shape === 'sheet' && styles.sheet)}
          {...(about === undefined && { 'aria-describedby': undefined })}
          onOpenAutoFocus={focusBody}
        >
          <div className={styles.head}>
            <div>
              <Radix.Title asChild>
                <h2>{title}</h2>
              </Radix.Title>
              {about !== undefined && (
                <Radix.Description asChild>
                  <div className={styles.about}>{about}</div>
                </Radix.Description>
              )}
            </div>
            <IconButton icon={X} label="Close" size="small" onClick={onClose} />
          </div>
          {children !== undefined && <div className={styles.body}>{children}</div>}
          {actions !== undefined && <div className={styles.foot}>{actions}</div>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What will happen, and whether it can be undone. */
  readonly about: ReactNode;
  /** Text of the button, such as `Delete job`. */
  readonly action: string;
  readonly onConfirm: () => Promise<unknown>;
  /** What must be typed first, where the action destroys something. */
  readonly typeToConfirm?: string;
}

/** Asks before something is destroyed. Stays open, with the reason, when the action fails. */
export function ConfirmDialog({
  isOpen,
  onClose,
  title,
  about,
  action,
  onConfirm,
  typeToConfirm,
}: ConfirmDialogProps) {
  const [typed, setTyped] = useState('');
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const close = () => {
    setTyped('');
    setFailure(null);
    onClose();
  };
  const confirm = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    setFailure(null);
    try {
      await onConfirm();
      close();
    } catch (cause) {
      setFailure(cause);
    } finally {
      setIsBusy(false);
    }
  };
  const isAllowed = typeToConfirm === undefined || typed === typeToConfirm;
  return (
    <Dialog isOpen={isOpen} onClose={close} title={title} about={about}>
      <form onSubmit={confirm}>
        {typeToConfirm !== undefined && (
          <Field label={`Type “${typeToConfirm}” to confirm`}>
            <TextInput value={typed} onChange={(event) => setTyped(event.target.value)} autoComplete="off" />
          </Field>
        )}
        {failure !== null && <FailureNotice failure={failure} />}
        <div className={styles.foot}>
          <Button onClick={close}>Cancel</Button>
          <Button kind="danger" type="submit" isBusy={isBusy} disabled={!isAllowed}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
