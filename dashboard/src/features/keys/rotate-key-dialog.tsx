import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Field, Select } from '../../kit/field.tsx';
import { Row, Stack } from '../../kit/layout.tsx';
import { SecretOnce } from '../../kit/secret-once.tsx';
import { FailureNotice } from '../../kit/states.tsx';
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
  const client = useQueryClient();
  const [overlap, setOverlap] = useState(86_400);
  const [secret, setSecret] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const close = () => {
    setSecret(null);
    setFailure(null);
    onClose();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (of === null) return;
    setIsBusy(true);
    setFailure(null);
    try {
      const body = { overlapSeconds: overlap, ...(account !== undefined && { account }) };
      const made = await api.post('/v1/keys/{id}/rotate', { params: { id: of.id }, body });
      setSecret(made.secret);
      await client.invalidateQueries({ queryKey: ['keys'] });
    } catch (cause) {
      setFailure(cause);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Dialog
      isOpen={of !== null}
      onClose={close}
      title={`Rotate the key “${of?.name}”`}
      about="It gets a new secret with the same rights."
    >
      {secret !== null ? (
        <Stack>
          <SecretOnce secret={secret} label="key" />
          <Row align="end">
            <Button onClick={close}>Done</Button>
          </Row>
        </Stack>
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <Field label="The old secret is valid">
              <Select value={overlap} onChange={(event) => setOverlap(Number(event.target.value))}>
                {OVERLAPS.map(([seconds, label]) => (
                  <option key={seconds} value={seconds}>
                    {label}
                  </option>
                ))}
              </Select>
            </Field>
            {failure !== null && <FailureNotice failure={failure} />}
            <Row align="end">
              <Button onClick={close}>Cancel</Button>
              <Button kind="primary" type="submit" isBusy={isBusy}>
                Rotate key
              </Button>
            </Row>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
