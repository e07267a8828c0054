import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Field, Select } from '../../kit/field.tsx';
import { FormDialog, SecretDialog, useSubmit } from '../../kit/form-dialog.tsx';
import type { Key } from './queries.ts';

const OVERLAPS = [
  [0, 'At once'],
  [3600, 'For an hour more'],
  [86_400, 'For a day more'],
  [604_800, 'For a week more'],
] as const;

/** Replaces the secret of a key; the old one stays valid for a while, so that no program fails meanwhile. */
export function RotateKeyDialog({
  of,
  onClose,
  account,
}: {
  readonly of: Key | null;
  readonly onClose: () => void;
  readonly account?: string;
}) {
  const [overlap, setOverlap] = useState(86_400);
  const [secret, setSecret] = useState<string | null>(null);
  const submit = useSubmit({
    refresh: ['keys'],
    check: () => ({}),
    async send() {
      const body = { overlapSeconds: overlap, ...(account !== undefined && { account }) };
      const made = await api.post('/v1/keys/{id}/rotate', { params: { id: of?.id ?? '' }, body });
      setSecret(made.secret);
    },
  });
  const close = () => {
    setSecret(null);
    submit.reset();
    onClose();
  };
  const title = `Rotate the key “${of?.name}”`;
  if (secret !== null) return <SecretDialog onClose={close} title={title} secret={secret} label="key" />;
  return (
    <FormDialog
      isOpen={of !== null}
      onClose={close}
      title={title}
      about="It gets a new secret with the same rights."
      action="Rotate key"
      submit={submit}
    >
      <Field label="The old secret is valid">
        <Select value={overlap} onChange={(event) => setOverlap(Number(event.target.value))}>
          {OVERLAPS.map(([seconds, label]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
        </Select>
      </Field>
    </FormDialog>
  );
}
