import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Field, TextInput } from '../../kit/field.tsx';
import { FormDialog, SecretDialog, useSubmit } from '../../kit/form-dialog.tsx';
import { LimitsFields, limitProblems, limitsOf, NO_LIMITS } from './limits-fields.tsx';

export function NewAccountDialog({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [plan, setPlan] = useState('');
  const [limits, setLimits] = useState(NO_LIMITS);
  const [secret, setSecret] = useState<string | null>(null);
  const submit = useSubmit({
    refresh: ['accounts'],
    check: () => ({ name: name.trim() === '' && 'Enter a name.', ...limitProblems(limits) }),
    async send() {
      const body = { name: name.trim(), ...(plan.trim() && { plan: plan.trim() }), limits: limitsOf(limits) };
      setSecret((await api.post('/v1/accounts', { body })).key.secret);
    },
  });
  const close = () => {
    setSecret(null);
    setName('');
    setPlan('');
    setLimits(NO_LIMITS);
    submit.reset();
    onClose();
  };
  if (secret !== null)
    return <SecretDialog onClose={close} title={`First key of “${name}”`} secret={secret} label="key" />;
  return (
    <FormDialog isOpen={isOpen} onClose={close} title="New account" action="Create account" submit={submit}>
      <Field label="Name" error={submit.errorOf('name')}>
        <TextInput value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label="Plan" hint="A word of yours, such as team or trial." error={submit.errorOf('plan')}>
        <TextInput value={plan} onChange={(event) => setPlan(event.target.value)} />
      </Field>
      <LimitsFields texts={limits} onChange={setLimits} failure={submit.failure} />
    </FormDialog>
  );
}
