import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { problemOf } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Checkbox, Field, TextInput } from '../../kit/field.tsx';
import { Row, Stack } from '../../kit/layout.tsx';
import { SecretOnce } from '../../kit/secret-once.tsx';
import { FailureNotice } from '../../kit/states.tsx';
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
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set(USUAL));
  const [rate, setRate] = useState('');
  const [expires, setExpires] = useState('');
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);

  const close = () => {
    setSecret(null);
    setName('');
    setFailure(null);
    setProblems({});
    onClose();
  };
  const check = (): Record<string, string> => ({
    ...(name.trim() === '' && { name: 'Enter a name that says which program uses the key.' }),
    ...(scopes.size === 0 && { scopes: 'Choose at least one right.' }),
    ...(rate !== '' &&
      !/^[1-9]\d*$/.test(rate) && { rate: 'Enter a whole number of requests, or leave it empty.' }),
    ...(expires !== '' &&
      new Date(expires).getTime() <= Date.now() && { expires: 'Choose a day in the future.' }),
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const found = check();
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    setIsBusy(true);
    setFailure(null);
    try {
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
      await client.invalidateQueries({ queryKey: ['keys'] });
    } catch (cause) {
      setFailure(cause);
    } finally {
      setIsBusy(false);
    }
  };
  const toggle = (scope: Scope) => {
    const next = new Set(scopes);
    if (!next.delete(scope)) next.add(scope);
    setScopes(next);
  };

  if (secret !== null) {
    return (
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title={`Key “${name}”`}
        actions={<Button onClick={close}>Done</Button>}
      >
        <SecretOnce secret={secret} label="key" />
      </Dialog>
    );
  }
  return (
    <Dialog isOpen={isOpen} onClose={close} title="New key">
      <form onSubmit={submit} noValidate>
        <Stack>
          <Field label="Name" error={problems.name ?? problemOf(failure, 'name')}>
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
            {problems.scopes !== undefined && (
              <p role="alert" className={styles.problem}>
                {problems.scopes}
              </p>
            )}
          </fieldset>
          <Field
            label="Requests a minute"
            hint="Empty: as many as the account may send."
            error={problems.rate ?? problemOf(failure, 'ratePerMinute')}
          >
            <TextInput inputMode="numeric" value={rate} onChange={(event) => setRate(event.target.value)} />
          </Field>
          <Field
            label="Valid until"
            hint="Empty: until it is revoked."
            error={problems.expires ?? problemOf(failure, 'expiresAt')}
          >
            <TextInput type="date" value={expires} onChange={(event) => setExpires(event.target.value)} />
          </Field>
          {failure !== null && <FailureNotice failure={failure} />}
          <Row align="end">
            <Button onClick={close}>Cancel</Button>
            <Button kind="primary" type="submit" isBusy={isBusy}>
              Create key
            </Button>
          </Row>
        </Stack>
      </form>
    </Dialog>
  );
}
