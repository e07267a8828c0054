import { useState } from 'react';
import * as z from 'zod/mini';
import { ApiError } from '../api/api-error.ts';
import { Button } from './button.tsx';
import { DataGrid, type GridColumn } from './data-grid.tsx';
import type { TextDiff } from './diff-view.tsx';
import { Field, TextArea, TextInput } from './field.tsx';
import { FormDialog, useSubmit } from './form-dialog.tsx';
import { Stack } from './layout.tsx';
import { arraySource } from './row-source.ts';
import { FormFailure, useServerForm } from './server-form.tsx';
import { toast } from './toasts.tsx';

export const SAMPLE_DIFF: TextDiff = {
  segments: [
    { kind: 'skipped', text: '', chars: 812 },
    { kind: 'same', text: 'Free delivery\nPrice ', chars: 20 },
    { kind: 'removed', text: '19', chars: 2 },
    { kind: 'added', text: '21', chars: 2 },
    { kind: 'same', text: ' EUR\n', chars: 5 },
    { kind: 'added', text: 'In stock\n', chars: 9 },
    { kind: 'same', text: 'Contact', chars: 7 },
  ],
  addedChars: 11,
  removedChars: 2,
  share: 0.015,
  isCoarse: false,
  isTruncated: false,
};

const SAMPLE_FORM = z.object({
  name: z.string().check(z.minLength(1, 'Give it a name.')),
  urls: z.string().check(z.regex(/^https?:/, 'Begin with http:// or https://.')),
});

/** A form whose server, for this sample, refuses the second URL. */
export function FormSample() {
  const form = useServerForm({
    schema: SAMPLE_FORM,
    defaultValues: { name: '', urls: '' },
    send: async () => {
      const details = [{ field: 'urls.1', message: '`urls.1` is no URL. Begin with http:// or https://.' }];
      throw new ApiError({ status: 422, code: 'VALIDATION_FAILED', message: 'Fields are wrong.', details });
    },
  });
  return (
    <form onSubmit={form.submit} noValidate>
      <Stack>
        <Field label="Name" error={form.errorOf('name')}>
          <TextInput {...form.register('name')} />
        </Field>
        <Field label="URLs" error={form.errorOf('urls')}>
          <TextArea {...form.register('urls')} />
        </Field>
        <FormFailure form={form} />
        <Button type="submit" isBusy={form.isBusy}>
          Send
        </Button>
      </Stack>
    </form>
  );
}

const MILLION = { ...arraySource<number>([]), count: 1_000_000, row: (index: number) => index };
const MILLION_COLUMNS: readonly GridColumn<number>[] = [
  { id: 'row', head: 'Row', width: 120, cell: (row) => row },
  { id: 'square', head: 'Square', width: 160, grow: 1, align: 'end', cell: (row) => row * row },
];

/** A list that is higher than any element can be. */
export const GridSample = () => (
  <DataGrid
    label="A million rows"
    source={MILLION}
    height="260px"
    columns={MILLION_COLUMNS}
    onOpen={(row) => toast.info(`Row ${row}`)}
  />
);

/** A small form in a dialog. */
export function FormDialogSample() {
  const [isOpen, setIsOpen] = useState(false);
  const [name, setName] = useState('');
  const close = () => setIsOpen(false);
  const submit = useSubmit({
    refresh: ['nothing'],
    check: () => ({ name: name.trim() === '' && 'Enter a name.' }),
    send: async () => close(),
  });
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Open a form</Button>
      <FormDialog isOpen={isOpen} onClose={close} title="New thing" action="Create thing" submit={submit}>
        <Field label="Name" error={submit.errorOf('name')}>
          <TextInput value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
      </FormDialog>
    </>
  );
}
