import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { problemOf } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Field, TextInput } from '../../kit/field.tsx';
import { Row, Stack } from '../../kit/layout.tsx';
import { SecretOnce } from '../../kit/secret-once.tsx';
import { FailureNotice } from '../../kit/states.tsx';
import { LimitsFields, limitProblems, limitsOf, NO_LIMITS } from './limits-fields.tsx';

export function NewAccountDialog({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [plan, setPlan] = useState('');
  const [limits, setLimits] = useState(NO_LIMITS);
  const [problem, setProblem] = useState<string | undefined>();
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => {
    setSecret(null);
    setName('');
    setPlan('');
    setLimits(NO_LIMITS);
    setFailure(null);
    setProblem(undefined);
    onClose();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setProblem(name.trim() === '' ? 'Enter a name.' : undefined);
    if (name.trim() === '' || Object.keys(limitProblems(limits)).length > 0) return;
    setIsBusy(true);
    setFailure(null);
    try {
      const body = { name: name.trim(), ...(plan.trim() && { plan: plan.trim() }), limits: limitsOf(limits) };
      const made = await api.post('/v1/accounts', { body });
      setSecret(made.key.secret);
      await client.invalidateQueries({ queryKey: ['accounts'] });
    } catch (cause) {
      setFailure(cause);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={secret === null ? 'New account' : `First key of “${name}”`}
    >
      {secret !== null ? (
        <Stack>
          <SecretOnce secret={secret} label="key" />
          <Row align="end">
            <Button onClick={close}>Done</Button>
          </Row>
        </Stack>
      ) : (
        <form onSubmit={submit} noValidate>
          <Stack>
            <Field label="Name" error={problem ?? problemOf(failure, 'name')}>
              <TextInput value={name} onChange={(event) => setName(event.target.value)} />
            </Field>
            <Field
              label="Plan"
              hint="A word of yours, such as team or trial."
              error={problemOf(failure, 'plan')}
            >
              <TextInput value={plan} onChange={(event) => setPlan(event.target.value)} />
            </Field>
            <LimitsFields texts={limits} onChange={setLimits} failure={failure} />
            {failure !== null && <FailureNotice failure={failure} />}
            <Row align="end">
              <Button onClick={close}>Cancel</Button>
              <Button kind="primary" type="submit" isBusy={isBusy}>
                Create account
              </Button>
            </Row>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
