import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Checkbox, Field, TextInput } from '../../kit/field.tsx';
import { FormDialog, SecretDialog, useSubmit } from '../../kit/form-dialog.tsx';
import styles from './keys.module.css';
import { SCOPES, type Scope } from './queries.ts';

const USUAL: readonly Scope[] = ['scrape', 'jobs:read', 'jobs:write', 'exports'];

export function NewKeyDialog({
  isOpen,
  onClose,
  account,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly account?: string;
}) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set(USUAL));
  const [rate, setRate] = useState('');
  const [expires, setExpires] = useState('');
  const [secret, setSecret] = useState<string | null>(null);
  const submit = useSubmit({
    refresh: ['keys'],
    check: () => ({
      name: name.trim() === '' && 'Enter a name that says which program uses the key.',
      scopes: scopes.size === 0 && 'Choose at least one right.',
      rate: rate !== '' && !/^[1-9]\d*$/.test(rate) && 'Enter a whole number of requests, or leave it empty.',
      expires: expires !== '' && new Date(expires).getTime() <= Date.now() && 'Choose a day in the future.',
    }),
    async send() {
      const made = await api.post('/v1/keys', {
        body: {
          name: name.trim(),
          scopes: [...scopes],
          ...(rate !== '' && { ratePerMinute: Number(rate) }),
          ...(expires !== '' && { expiresAt: new Date(expires).toISOString() }),
          ...(account !== undefined && { account }),
        },
      });
      setSecret(made.secret);
    },
  });
  const close = () => {
    setSecret(null);
    setName('');
    submit.reset();
    onClose();
  };
  const toggle = (scope: Scope) => {
    const next = new Set(scopes);
    if (!next.delete(scope)) next.add(scope);
    setScopes(next);
  };

  if (secret !== null)
    return <SecretDialog onClose={close} title={`Key “${name}”`} secret={secret} label="key" />;
  return (
    <FormDialog isOpen={isOpen} onClose={close} title="New key" action="Create key" submit={submit}>
      <Field label="Name" error={submit.errorOf('name')}>
        <TextInput
          value={name}
          onChange={(event) => setName(event.target.value)}
          placeholder="Nightly import"
        />
      </Field>
      <fieldset className={styles.scopes}>
        <legend>Rights</legend>
        {SCOPES.map(([scope, about]) => (
          <Checkbox
            key={scope}
            label={<code>{scope}</code>}
            hint={about}
            checked={scopes.has(scope)}
            onChange={() => toggle(scope)}
          />
        ))}
        {submit.errorOf('scopes') !== undefined && (
          <p role="alert" className={styles.problem}>
            {submit.errorOf('scopes')}
          </p>
        )}
      </fieldset>
      <Field
        label="Requests a minute"
        hint="Empty: as many as the account may send."
        error={submit.errorOf('rate', 'ratePerMinute')}
      >
        <TextInput inputMode="numeric" value={rate} onChange={(event) => setRate(event.target.value)} />
      </Field>
      <Field
        label="Valid until"
        hint="Empty: until it is revoked."
        error={submit.errorOf('expires', 'expiresAt')}
      >
        <TextInput type="date" value={expires} onChange={(event) => setExpires(event.target.value)} />
      </Field>
    </FormDialog>
  );
}
