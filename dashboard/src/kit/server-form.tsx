import { zodResolver } from '@hookform/resolvers/zod';
import { type FormEvent, useState } from 'react';
import {
  type DefaultValues,
  type FieldPath,
  type FieldValues,
  type Resolver,
  type UseFormReturn,
  useForm,
} from 'react-hook-form';
import { ApiError, asApiError } from '../api/api-error.ts';
import { plural } from '../format/format.ts';
import { Button } from './button.tsx';
import { Row } from './layout.tsx';
import { placeProblems } from './place-problems.ts';
import { FailureNotice, Notice } from './states.tsx';

/** A schema of `zod/mini`. */
interface Schema<I, O> {
  readonly _zod: { readonly input: I; readonly output: O };
}

interface ServerFormOptions<I extends FieldValues, O> {
  /** What the browser checks before it asks the server. Its messages say what to do. */
  readonly schema: Schema<I, O>;
  readonly defaultValues: DefaultValues<I>;
  /** Sends the values, as the schema returns them. Its ApiError is shown at the fields, or below the form. */
  readonly send: (values: O) => Promise<unknown>;
  /** Fields of the form that the request calls otherwise: path in the request → path in the form. */
  readonly fieldOf?: Readonly<Record<string, FieldPath<I>>>;
}

export interface ServerForm<I extends FieldValues, O> extends UseFormReturn<I, unknown, O> {
  /** For `onSubmit` of the form. */
  readonly submit: (event?: FormEvent) => Promise<void>;
  /** What is wrong with a field, for `error` of its `Field`. */
  readonly errorOf: (name: FieldPath<I>) => string | undefined;
  /** The failure of the last request, with those problems alone that no field shows; null when fields show all. */
  readonly failure: ApiError | null;
  readonly isBusy: boolean;
}

/**
 * A form whose values the browser checks by a schema and the server by its own rules; both show at the field, and the
 * first wrong field is focused. Usage: `<form onSubmit={form.submit} noValidate>`, in it
 * `<Field label="Name" error={form.errorOf('name')}><TextInput {...form.register('name')} /></Field>`, `<FormFailure form={form} />`.
 */
export function useServerForm<I extends FieldValues, O>({
  schema,
  defaultValues,
  send,
  fieldOf,
}: ServerFormOptions<I, O>): ServerForm<I, O> {
  const form = useForm<I, unknown, O>({
    defaultValues,
    resolver: zodResolver(schema as never) as unknown as Resolver<I, unknown, O>,
  });
  const [failure, setFailure] = useState<ApiError | null>(null);

  const attempt = async (values: O) => {
    setFailure(null);
    try {
      await send(values);
    } catch (cause) {
      const error = asApiError(cause);
      const { placed, rest } = placeProblems(error.problems, form.getValues(), fieldOf);
      for (const [index, { name, message }] of placed.entries())
        form.setError(name as FieldPath<I>, { type: 'server', message }, { shouldFocus: index === 0 });
      if (placed.length === 0 || rest.length > 0) setFailure(withProblems(error, rest));
    }
  };
  return {
    ...form,
    submit: form.handleSubmit(attempt, () => setFailure(null)),
    errorOf: (name) => form.getFieldState(name, form.formState).error?.message,
    failure,
    isBusy: form.formState.isSubmitting,
  };
}

const withProblems = (error: ApiError, problems: ApiError['problems']): ApiError =>
  new ApiError({
    status: error.status,
    code: error.code,
    message: error.message,
    details: problems,
    requestId: error.requestId,
    retryAfterSeconds: error.retryAfterSeconds,
  });

/** Why a form was not sent, beside its button: how many fields are wrong, with a way to the first, or the failure. */
export function FormFailure<I extends FieldValues, O>({ form }: { readonly form: ServerForm<I, O> }) {
  const wrong = wrongFields(form.formState.errors);
  if (form.failure !== null) return <FailureNotice failure={form.failure} />;
  if (wrong.length === 0) return null;
  return (
    <Notice tone="bad">
      <Row align="between">
        <span>{`${plural(wrong.length, 'field needs', 'fields need')} a change before this can be sent.`}</span>
        <Button size="small" onClick={() => form.setFocus(wrong[0] as FieldPath<I>)}>
          Show the first
        </Button>
      </Row>
    </Notice>
  );
}

/** The paths of all fields with an error, in the order of the form's values. */
export function wrongFields(errors: object, above = ''): readonly string[] {
  return Object.entries(errors).flatMap(([key, entry]: [string, unknown]) => {
    if (typeof entry !== 'object' || entry === null) return [];
    const path = above === '' ? key : `${above}.${key}`;
    return 'message' in entry && typeof entry.message === 'string' ? [path] : wrongFields(entry, path);
  });
}
