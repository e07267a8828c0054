import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { problemOf } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Checkbox, Field, Select, TextInput } from '../../kit/field.tsx';
import { Row, Stack } from '../../kit/layout.tsx';
import { FailureNotice } from '../../kit/states.tsx';
import { toast } from '../../kit/toasts.tsx';

type Kind = 'login' | 'basic' | 'bearer';
const EMPTY = { name: '', kind: 'login' as Kind, hosts: '', username: '', secret: '', allowHttp: false };

export function NewCredentialDialog({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const [form, setForm] = useState(EMPTY);
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const set = (change: Partial<typeof EMPTY>) => setForm((before) => ({ ...before, ...change }));
  const hosts = form.hosts.split(/[\s,]+/).filter((host) => host !== '');
  const close = () => {
    setForm(EMPTY);
    setFailure(null);
    setProblems({});
    onClose();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const found = {
      ...(form.name.trim() === '' && { name: 'Enter a name.' }),
      ...(hosts.length === 0 && { hosts: 'Enter the hosts that may get it, such as shop.example.' }),
      ...(form.kind !== 'bearer' && form.username === '' && { username: 'Enter the name to log in with.' }),
      ...(form.secret === '' && {
        secret: form.kind === 'bearer' ? 'Enter the token.' : 'Enter the password.',
      }),
    };
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    setIsBusy(true);
    setFailure(null);
    const common = { hosts, ...(form.allowHttp && { allowHttp: true }) };
    try {
      await api.put('/v1/credentials/{name}', {
        params: { name: form.name.trim() },
        body:
          form.kind === 'bearer'
            ? { kind: 'bearer', ...common, token: form.secret }
            : { kind: form.kind, ...common, username: form.username, password: form.secret },
      });
      await client.invalidateQueries({ queryKey: ['credentials'] });
      toast.done('The credentials are stored.');
      close();
    } catch (cause) {
      setFailure(cause);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Dialog isOpen={isOpen} onClose={close} title="New credentials">
      <form onSubmit={submit} noValidate autoComplete="off">
        <Stack>
          <Field label="Name" error={problems.name ?? problemOf(failure, 'name')}>
            <TextInput
              value={form.name}
              placeholder="shop"
              onChange={(event) => set({ name: event.target.value })}
            />
          </Field>
          <Field label="Kind">
            <Select value={form.kind} onChange={(event) => set({ kind: event.target.value as Kind })}>
              <option value="login">Log-in form</option>
              <option value="basic">HTTP Basic</option>
              <option value="bearer">Bearer token</option>
            </Select>
          </Field>
          <Field
            label="Hosts"
            hint="The only ones it is ever sent to: example.com, or *.example.com for all below it."
            error={problems.hosts ?? problemOf(failure, 'hosts')}
          >
            <TextInput value={form.hosts} onChange={(event) => set({ hosts: event.target.value })} />
          </Field>
          {form.kind !== 'bearer' && (
            <Field label="User name" error={problems.username ?? problemOf(failure, 'username')}>
              <TextInput
                value={form.username}
                autoComplete="off"
                onChange={(event) => set({ username: event.target.value })}
              />
            </Field>
          )}
          <Field
            label={form.kind === 'bearer' ? 'Token' : 'Password'}
            error={problems.secret ?? problemOf(failure, form.kind === 'bearer' ? 'token' : 'password')}
          >
            <TextInput
              type="password"
              autoComplete="new-password"
              value={form.secret}
              onChange={(event) => set({ secret: event.target.value })}
            />
          </Field>
          <Checkbox
            label="Send it by unencrypted http:// too"
            checked={form.allowHttp}
            onChange={(event) => set({ allowHttp: event.target.checked })}
          />
          {failure !== null && <FailureNotice failure={failure} />}
          <Row align="end">
            <Button onClick={close}>Cancel</Button>
            <Button kind="primary" type="submit" isBusy={isBusy}>
              Store credentials
            </Button>
          </Row>
        </Stack>
      </form>
    </Dialog>
  );
}
