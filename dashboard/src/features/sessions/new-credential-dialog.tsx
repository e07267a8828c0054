import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Checkbox, Field, Select, TextInput } from '../../kit/field.tsx';
import { FormDialog, useSubmit } from '../../kit/form-dialog.tsx';
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
  const [form, setForm] = useState(EMPTY);
  const set = (change: Partial<typeof EMPTY>) => setForm((before) => ({ ...before, ...change }));
  const hosts = form.hosts.split(/[\s,]+/).filter((host) => host !== '');
  const isToken = form.kind === 'bearer';
  const submit = useSubmit({
    refresh: ['credentials'],
    check: () => ({
      name: form.name.trim() === '' && 'Enter a name.',
      hosts: hosts.length === 0 && 'Enter the hosts that may get it, such as shop.example.',
      username: !isToken && form.username === '' && 'Enter the name to log in with.',
      secret: form.secret === '' && (isToken ? 'Enter the token.' : 'Enter the password.'),
    }),
    async send() {
      const common = { hosts, ...(form.allowHttp && { allowHttp: true }) };
      await api.put('/v1/credentials/{name}', {
        params: { name: form.name.trim() },
        body:
          form.kind === 'bearer'
            ? { kind: 'bearer', ...common, token: form.secret }
            : { kind: form.kind, ...common, username: form.username, password: form.secret },
      });
      toast.done('The credentials are stored.');
      close();
    },
  });
  const close = () => {
    setForm(EMPTY);
    submit.reset();
    onClose();
  };
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={close}
      title="New credentials"
      action="Store credentials"
      submit={submit}
    >
      <Field label="Name" error={submit.errorOf('name')}>
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
        error={submit.errorOf('hosts')}
      >
        <TextInput value={form.hosts} onChange={(event) => set({ hosts: event.target.value })} />
      </Field>
      {!isToken && (
        <Field label="User name" error={submit.errorOf('username')}>
          <TextInput
            value={form.username}
            autoComplete="off"
            onChange={(event) => set({ username: event.target.value })}
          />
        </Field>
      )}
      <Field
        label={isToken ? 'Token' : 'Password'}
        error={submit.errorOf('secret', isToken ? 'token' : 'password')}
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
    </FormDialog>
  );
}
