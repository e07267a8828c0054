import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { problemOf } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Field, Select, TextInput } from '../../kit/field.tsx';
import { Row, Stack } from '../../kit/layout.tsx';
import { FailureNotice } from '../../kit/states.tsx';
import { toast } from '../../kit/toasts.tsx';

export function NewSessionDialog({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const credentials = useQuery({
    queryKey: ['credentials', 'names'],
    queryFn: ({ signal }) => api.get('/v1/credentials', { query: { limit: 100 }, signal }),
    enabled: isOpen,
  });
  const [name, setName] = useState('');
  const [credential, setCredential] = useState('');
  const [hours, setHours] = useState('');
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const close = () => {
    setName('');
    setFailure(null);
    setProblems({});
    onClose();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const found = {
      ...(name.trim() === '' && { name: 'Enter a name; jobs use the session by it.' }),
      ...(hours !== '' && !/^[1-9]\d*$/.test(hours) && { hours: 'Enter a whole number of hours.' }),
    };
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    setIsBusy(true);
    setFailure(null);
    try {
      await api.post('/v1/sessions', {
        body: {
          name: name.trim(),
          ...(credential !== '' && { credentials: credential }),
          ...(hours !== '' && { expiresInHours: Number(hours) }),
        },
      });
      await client.invalidateQueries({ queryKey: ['sessions'] });
      toast.done(`The session “${name.trim()}” is ready.`);
      close();
    } catch (cause) {
      setFailure(cause);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Dialog isOpen={isOpen} onClose={close} title="New session">
      <form onSubmit={submit} noValidate>
        <Stack>
          <Field label="Name" error={problems.name ?? problemOf(failure, 'name')}>
            <TextInput value={name} placeholder="shop" onChange={(event) => setName(event.target.value)} />
          </Field>
          <Field
            label="Credentials"
            hint="For logging in; stored under Credentials."
            error={problemOf(failure, 'credentials')}
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
            error={problems.hours ?? problemOf(failure, 'expiresInHours')}
          >
            <TextInput inputMode="numeric" value={hours} onChange={(event) => setHours(event.target.value)} />
          </Field>
          {failure !== null && <FailureNotice failure={failure} />}
          <Row align="end">
            <Button onClick={close}>Cancel</Button>
            <Button kind="primary" type="submit" isBusy={isBusy}>
              Create session
            </Button>
          </Row>
        </Stack>
      </form>
    </Dialog>
  );
}
