import { ChevronRight } from 'lucide-react';
import type { InputHTMLAttributes, ReactNode } from 'react';
import { useState } from 'react';
import { Checkbox, Field, TextArea, TextInput } from '../../kit/field.tsx';
import type { ServerForm } from '../../kit/server-form.tsx';
import type { JobForm } from './job-form.ts';
import styles from './new-job.module.css';

export type Form = ServerForm<JobForm, JobForm>;

/** Names of the form's fields whose values are of a type. */
type NameOf<T> = { [K in keyof JobForm]: JobForm[K] extends T ? K : never }[keyof JobForm];

interface PartProps {
  readonly form: Form;
  readonly label: string;
  readonly hint?: ReactNode;
}

export const TextField = ({
  form,
  name,
  label,
  hint,
  ...rest
}: PartProps & { readonly name: NameOf<string> } & Omit<
    InputHTMLAttributes<HTMLInputElement>,
    'form' | 'name'
  >) => (
  <Field label={label} hint={hint} error={form.errorOf(name)}>
    <TextInput {...rest} {...form.register(name)} />
  </Field>
);

/** A list, one entry a line. */
export const LinesField = ({
  form,
  name,
  label,
  hint,
  rows = 3,
  placeholder,
}: PartProps & { readonly name: NameOf<string>; readonly rows?: number; readonly placeholder?: string }) => (
  <Field label={label} hint={hint} error={form.errorOf(name)}>
    <TextArea rows={rows} placeholder={placeholder} className={styles.code} {...form.register(name)} />
  </Field>
);

export const CheckField = ({ form, name, label, hint }: PartProps & { readonly name: NameOf<boolean> }) => (
  <div>
    <Checkbox label={label} hint={hint} {...form.register(name)} />
    {form.errorOf(name) !== undefined && (
      <p className={styles.error} role="alert">
        {form.errorOf(name)}
      </p>
    )}
  </div>
);

/** Options that few need; opens by itself when one of them is wrong. */
export function Fold({
  title,
  form,
  names,
  children,
}: {
  readonly title: string;
  readonly form: Form;
  /** The fields inside, whose problems open the part. */
  readonly names: readonly (keyof JobForm)[];
  readonly children: ReactNode;
}) {
  const [isOpen, setIsOpen] = useState(false);
  const isWrong = names.some((name) => form.errorOf(name) !== undefined);
  return (
    <details
      className={styles.fold}
      open={isOpen || isWrong}
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
    >
      <summary>
        <ChevronRight size={14} aria-hidden />
        {title}
      </summary>
      <div className={styles.folded}>{children}</div>
    </details>
  );
}
