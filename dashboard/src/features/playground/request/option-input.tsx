import { CodeEditor } from '../../../kit/code-editor.tsx';
import { Checkbox, Field, Select, Switch, TextArea, TextInput } from '../../../kit/field.tsx';
import { ActionsInput } from './actions-input.tsx';
import type { OptionField } from './option-field-types.ts';
import type { ActionDraft, DraftValue } from './request-draft.ts';
import styles from './request-form.module.css';

export interface OptionInputProps {
  readonly field: OptionField;
  readonly value: DraftValue | undefined;
  readonly error: string | undefined;
  readonly onChange: (value: DraftValue) => void;
}

/** One option of the request, with the input that fits its kind. */
export function OptionInput({ field, value, error, onChange }: OptionInputProps) {
  const { label, kind, hint, placeholder } = field;
  const text = typeof value === 'string' ? value : '';
  const about = { label, ...(hint !== undefined && { hint }), ...(error !== undefined && { error }) };
  switch (kind) {
    case 'on':
    case 'off':
      return (
        <div>
          <Switch
            label={label}
            checked={value === undefined ? kind === 'off' : value === true}
            onChange={(event) => onChange(event.target.checked)}
          />
          <About hint={hint} error={error} />
        </div>
      );
    case 'checks':
      return <Checks field={field} value={value} error={error} onChange={onChange} />;
    case 'actions':
      return (
        <fieldset className={styles.plain}>
          <legend>{label}</legend>
          <ActionsInput
            actions={Array.isArray(value) ? (value as readonly ActionDraft[]) : []}
            onChange={onChange}
          />
          <About hint={hint} error={error} />
        </fieldset>
      );
    case 'json':
      return (
        <div className={styles.editor} aria-invalid={error !== undefined || undefined}>
          <div className={styles.label}>{label}</div>
          <CodeEditor
            label={label}
            language="json"
            value={text}
            onChange={onChange}
            minHeight={90}
            {...(placeholder !== undefined && { placeholder })}
          />
          <About hint={hint} error={error} />
        </div>
      );
    case 'choice':
      return (
        <Field {...about}>
          <Select value={text} onChange={(event) => onChange(event.target.value)}>
            {(field.choices ?? []).map((choice) => (
              <option key={choice.value} value={choice.value}>
                {choice.label}
              </option>
            ))}
            {text !== '' && !field.choices?.some((choice) => choice.value === text) && (
              <option value={text}>{text}</option>
            )}
          </Select>
        </Field>
      );
    case 'long':
    case 'lines':
    case 'pairs':
      return (
        <Field {...about}>
          <TextArea
            rows={kind === 'long' ? 3 : 2}
            value={text}
            placeholder={placeholder}
            onChange={(event) => onChange(event.target.value)}
          />
        </Field>
      );
    default:
      return (
        <Field {...about}>
          <TextInput
            value={text}
            placeholder={placeholder}
            inputMode={kind === 'number' ? 'decimal' : 'text'}
            autoComplete="off"
            onChange={(event) => onChange(event.target.value)}
          />
        </Field>
      );
  }
}

function Checks({ field, value, error, onChange }: OptionInputProps) {
  const chosen = Array.isArray(value) ? value.map(String) : [];
  const change = (name: string, isOn: boolean) =>
    onChange(
      (field.choices ?? [])
        .map((choice) => choice.value)
        .filter((each) => (each === name ? isOn : chosen.includes(each))),
    );
  return (
    <fieldset className={styles.plain}>
      <legend>{field.label}</legend>
      <div className={styles.checks}>
        {(field.choices ?? []).map((choice) => (
          <Checkbox
            key={choice.value}
            label={choice.label}
            {...(choice.hint !== undefined && { hint: choice.hint })}
            checked={chosen.includes(choice.value)}
            onChange={(event) => change(choice.value, event.target.checked)}
          />
        ))}
      </div>
      <About hint={field.hint} error={error} />
    </fieldset>
  );
}

function About({ hint, error }: { readonly hint: string | undefined; readonly error: string | undefined }) {
  if (error !== undefined) {
    return (
      <div className={styles.error} role="alert">
        {error}
      </div>
    );
  }
  return hint === undefined ? null : <div className={styles.hint}>{hint}</div>;
}
