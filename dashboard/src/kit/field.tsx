import { ChevronDown } from 'lucide-react';
import {
  createContext,
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  use,
  useId,
} from 'react';
import { cx } from './class-names.ts';
import styles from './field.module.css';
import { Sentence } from './sentence.tsx';

interface FieldIds {
  readonly input: string;
  readonly description: string | undefined;
  readonly isWrong: boolean;
}
const FieldContext = createContext<FieldIds | null>(null);

/** What an input inside a Field takes from it: its id, its description and whether its value is wrong. */
function useFieldProps(id: string | undefined) {
  const field = use(FieldContext);
  return {
    id: id ?? field?.input,
    'aria-describedby': field?.description,
    'aria-invalid': field?.isWrong || undefined,
  };
}

interface FieldProps {
  readonly label: ReactNode;
  /** What the field is for, where its label does not say it. */
  readonly hint?: ReactNode;
  /** What is wrong with the value, and what to do. */
  readonly error?: ReactNode;
  /** For screen readers only, where the place already says what the field is. */
  readonly isLabelHidden?: boolean;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** A label, one input and what to know about it. */
export function Field({ label, hint, error, isLabelHidden = false, className, children }: FieldProps) {
  const id = useId();
  const hasError = error !== undefined && error !== null && error !== '';
  const description = hasError || hint !== undefined ? `${id}-about` : undefined;
  return (
    <FieldContext value={{ input: id, description, isWrong: hasError }}>
      <div className={cx(styles.field, className)}>
        <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : styles.label}>
          {label}
        </label>
        {children}
        {description !== undefined && (
          <div
            id={description}
            className={hasError ? styles.error : styles.hint}
            role={hasError ? 'alert' : undefined}
          >
            {hasError ? typeof error === 'string' ? <Sentence text={error} /> : error : hint}
          </div>
        )}
      </div>
    </FieldContext>
  );
}

export function TextInput({
  className,
  id,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> }) {
  return (
    <input
      type="text"
      spellCheck={false}
      {...useFieldProps(id)}
      {...rest}
      className={cx(styles.input, className)}
    />
  );
}

export function TextArea({
  className,
  id,
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { ref?: Ref<HTMLTextAreaElement> }) {
  return (
    <textarea
      rows={4}
      spellCheck={false}
      {...useFieldProps(id)}
      {...rest}
      className={cx(styles.input, styles.area, className)}
    />
  );
}

export function Select({
  className,
  id,
  children,
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement> & { ref?: Ref<HTMLSelectElement> }) {
  return (
    <span className={cx(styles.select, className)}>
      <select {...useFieldProps(id)} {...rest} className={styles.input}>
        {children}
      </select>
      <ChevronDown size={15} aria-hidden />
    </span>
  );
}

/** A box with its label, for one of several choices that may be combined. */
export function Checkbox({
  label,
  hint,
  className,
  ...rest
}: { readonly label: ReactNode; readonly hint?: ReactNode } & Omit<
  InputHTMLAttributes<HTMLInputElement>,
  'type'
> & {
    ref?: Ref<HTMLInputElement>;
  }) {
  return (
    <label className={cx(styles.check, className)}>
      <input type="checkbox" {...rest} />
      <span>
        {label}
        {hint !== undefined && <span className={styles.checkHint}>{hint}</span>}
      </span>
    </label>
  );
}

/** Something that is on or off, and takes effect at once. */
export function Switch({
  label,
  className,
  ...rest
}: { readonly label: ReactNode } & Omit<InputHTMLAttributes<HTMLInputElement>, 'type'> & {
    ref?: Ref<HTMLInputElement>;
  }) {
  return (
    <label className={cx(styles.check, className)}>
      {/* biome-ignore lint/a11y/useAriaPropsForRole: a checkbox tells by itself whether it is on */}
      <input type="checkbox" role="switch" {...rest} className={styles.switch} />
      <span>{label}</span>
    </label>
  );
}

/** A field with a few choices, all of them visible. */
export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: ReactNode }[];
  readonly onChange: (value: T) => void;
}) {
  const name = useId();
  return (
    <fieldset className={styles.segments}>
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <label key={option.value} className={styles.segment}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
