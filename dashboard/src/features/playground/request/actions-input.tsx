import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react';
import { Button, IconButton } from '../../../kit/button.tsx';
import { Checkbox, Select, TextInput } from '../../../kit/field.tsx';
import { toast } from '../../../kit/toasts.tsx';
import type { ActionDraft } from './request-draft.ts';
import styles from './request-form.module.css';

interface ActionField {
  readonly name: string;
  readonly label: string;
  readonly kind?: 'number' | 'boolean' | 'until' | 'files';
}

const SELECTOR = { name: 'selector', label: 'CSS selector' };

/** The fields of each action, as in docs/scrape-options.md. */
const ACTIONS: Readonly<Record<string, readonly ActionField[]>> = {
  click: [SELECTOR],
  type: [SELECTOR, { name: 'text', label: 'Text' }],
  press: [{ name: 'key', label: 'Key, such as Enter' }, SELECTOR],
  select: [SELECTOR, { name: 'value', label: 'Value or label' }],
  hover: [SELECTOR],
  wait: [
    SELECTOR,
    { name: 'ms', label: 'Milliseconds', kind: 'number' },
    { name: 'until', label: 'Until', kind: 'until' },
  ],
  scroll: [SELECTOR, { name: 'pixels', label: 'Pixels', kind: 'number' }],
  back: [],
  evaluate: [{ name: 'script', label: 'JavaScript' }],
  screenshot: [SELECTOR, { name: 'fullPage', label: 'Whole page', kind: 'boolean' }],
  upload: [SELECTOR, { name: 'files', label: 'Files', kind: 'files' }],
};

/** As much as the API takes of one action. */
const MOST_FILE_BYTES = 2 * 1024 * 1024;

/** Steps on the page, in their order. */
export function ActionsInput({
  actions,
  onChange,
}: {
  readonly actions: readonly ActionDraft[];
  readonly onChange: (actions: readonly ActionDraft[]) => void;
}) {
  const replace = (index: number, action: ActionDraft) => onChange(actions.with(index, action));
  const move = (index: number, by: number) => {
    const moved = actions[index];
    const other = actions[index + by];
    if (moved !== undefined && other !== undefined)
      onChange(actions.with(index, other).with(index + by, moved));
  };
  return (
    <ol className={styles.actions}>
      {actions.map((action, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a step is known by its place
        <li key={index} className={styles.action}>
          <div className={styles.actionHead}>
            <Select
              aria-label={`Action ${index + 1}`}
              value={action.type}
              onChange={(event) => replace(index, { type: event.target.value })}
            >
              {Object.keys(ACTIONS).map((type) => (
                <option key={type}>{type}</option>
              ))}
            </Select>
            <span>
              <IconButton
                icon={ArrowUp}
                label={`Move action ${index + 1} up`}
                size="small"
                disabled={index === 0}
                onClick={() => move(index, -1)}
              />
              <IconButton
                icon={ArrowDown}
                label={`Move action ${index + 1} down`}
                size="small"
                disabled={index === actions.length - 1}
                onClick={() => move(index, 1)}
              />
              <IconButton
                icon={X}
                label={`Remove action ${index + 1}`}
                size="small"
                onClick={() => onChange(actions.toSpliced(index, 1))}
              />
            </span>
          </div>
          {(ACTIONS[action.type] ?? []).map((field) => (
            <ActionInput
              key={field.name}
              field={field}
              label={`${field.label} of action ${index + 1}`}
              value={action[field.name]}
              onChange={(value) => replace(index, withField(action, field.name, value))}
            />
          ))}
        </li>
      ))}
      <li>
        <Button size="small" icon={Plus} onClick={() => onChange([...actions, { type: 'click' }])}>
          Add an action
        </Button>
      </li>
    </ol>
  );
}

function withField(action: ActionDraft, name: string, value: unknown): ActionDraft {
  const { [name]: _, ...rest } = action;
  return { ...rest, type: action.type, ...(value !== undefined && value !== '' && { [name]: value }) };
}

interface ActionInputProps {
  readonly field: ActionField;
  readonly label: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function ActionInput({ field, label, value, onChange }: ActionInputProps) {
  if (field.kind === 'boolean') {
    return (
      <Checkbox
        label={field.label}
        checked={value === true}
        onChange={(event) => onChange(event.target.checked || undefined)}
      />
    );
  }
  if (field.kind === 'until') {
    return (
      <Select
        aria-label={label}
        value={String(value ?? '')}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">Loaded so far: any</option>
        <option value="load">load</option>
        <option value="domcontentloaded">domcontentloaded</option>
        <option value="networkidle">networkidle</option>
      </Select>
    );
  }
  if (field.kind === 'files') return <FilesInput label={label} value={value} onChange={onChange} />;
  return (
    <TextInput
      aria-label={label}
      placeholder={field.label}
      value={String(value ?? '')}
      autoComplete="off"
      onChange={(event) => {
        const text = event.target.value;
        const isNumber = field.kind === 'number' && text.trim() !== '' && Number.isFinite(Number(text));
        onChange(isNumber ? Number(text) : text);
      }}
    />
  );
}

function FilesInput({ label, value, onChange }: Omit<ActionInputProps, 'field'>) {
  const names = Array.isArray(value) ? value.map((file: { name?: unknown }) => String(file.name)) : [];
  const take = async (files: readonly File[]) => {
    if (files.reduce((sum, { size }) => sum + size, 0) > MOST_FILE_BYTES) {
      toast.failed(new Error('The files of an action may have 2 MiB together. Choose smaller ones.'));
      return;
    }
    onChange(
      await Promise.all(
        files.map(async (file) => ({
          name: file.name,
          ...(file.type !== '' && { contentType: file.type }),
          base64: btoa(
            Array.from(new Uint8Array(await file.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(
              '',
            ),
          ),
        })),
      ),
    );
  };
  return (
    <div>
      <input
        type="file"
        multiple
        aria-label={label}
        onChange={(event) => void take([...(event.target.files ?? [])])}
      />
      {names.length > 0 && <div className={styles.hint}>{names.join(', ')}</div>}
    </div>
  );
}
