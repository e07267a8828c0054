import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Field, Select, TextInput } from '../../kit/field.tsx';
import { FormDialog, useSubmit } from '../../kit/form-dialog.tsx';
import { toast } from '../../kit/toasts.tsx';

export function NewSessionDialog({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const credentials = useQuery({
    queryKey: ['credentials', 'names'],
    queryFn: ({ signal }) => api.get('/v1/credentials', { query: { limit: 100 }, signal }),
    enabled: isOpen,
  });
  const [name, setName] = useState('');
  const [credential, setCredential] = useState('');
  const [hours, setHours] = useState('');
  const submit = useSubmit({
    refresh: ['sessions'],
    check: () => ({
      name: name.trim() === '' && 'Enter a name; jobs use the session by it.',
      hours: hours !== '' && !/^[1-9]\d*$/.test(hours) && 'Enter a whole number of hours.',
    }),
    async send() {
      await api.post('/v1/sessions', {
        body: {
          name: name.trim(),
          ...(credential !== '' && { credentials: credential }),
          ...(hours !== '' && { expiresInHours: Number(hours) }),
        },
      });
      toast.done(`The session “${name.trim()}” is ready.`);
      close();
    },
  });
  const close = () => {
    setName('');
    submit.reset();
    onClose();
  };
  return (
    <FormDialog isOpen={isOpen} onClose={close} title="New session" action="Create session" submit={submit}>
      <Field label="Name" error={submit.errorOf('name')}>
        <TextInput value={name} placeholder="shop" onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field
        label="Credentials"
        hint="For logging in; stored under Credentials."
        error={submit.errorOf('credentials')}
      >
        <Select value={credential} onChange={(event) => setCredential(event.target.value)}>
          <option value="">none</option>
          {credentials.data?.items.map((entry) => (
            <option key={entry.name}>{entry.name}</option>
          ))}
        </Select>
      </Field>
      <Field
        label="Valid for hours"
        hint="Empty: as the server sets it."
        error={submit.errorOf('hours', 'expiresInHours')}
      >
        <TextInput inputMode="numeric" value={hours} onChange={(event) => setHours(event.target.value)} />
      </Field>
    </FormDialog>
  );
}
