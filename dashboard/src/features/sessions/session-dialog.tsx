import { useQuery } from '@tanstack/react-query';
import { LogIn } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { problemOf } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import type { Data } from '../../api/types.ts';
import { plural } from '../../format/format.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Field, TextInput } from '../../kit/field.tsx';
import { Fold, KeyValues, Row, Stack } from '../../kit/layout.tsx';
import { FailureNotice, Notice, QueryView } from '../../kit/states.tsx';
import { Time } from '../../kit/time.tsx';
import { useAction } from '../../kit/use-action.ts';

type Session = Data<'getSession'>;

export function SessionDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const session = useQuery({
    queryKey: ['sessions', name],
    queryFn: ({ signal }) => api.get('/v1/sessions/{name}', { params: { name }, signal }),
  });
  return (
    <Dialog isOpen onClose={onClose} shape="sheet" title={`Session ${name}`}>
      <QueryView query={session}>{(found) => <Loaded session={found} />}</QueryView>
    </Dialog>
  );
}

const Loaded = ({ session }: { readonly session: Session }) => (
  <Stack>
    <KeyValues
      entries={[
        ['Credentials', session.credentials],
        ['Identity', session.identity ?? 'as the policy says'],
        ['User agent', session.userAgent ?? undefined],
        [
          'Proxy',
          session.usedProxy === null ? 'none' : `${session.usedProxy.id} (${session.usedProxy.tier})`,
        ],
        ['Requests', session.requestCount],
        ['Last used', <Time key="used" at={session.lastUsedAt} />],
        ['Valid until', <Time key="until" at={session.expiresAt} />],
        [
          'Storage',
          session.storage
            .map(({ origin, items }) => `${origin}: ${plural(items, 'entry', 'entries')}`)
            .join(', '),
        ],
      ]}
    />
    <LoginForm session={session} />
    <Fold title={plural(session.cookies.length, 'cookie')}>
      <ul>
        {session.cookies.map(({ name, domain }) => (
          <li key={`${domain} ${name}`}>
            <code>{name}</code> of {domain}
          </li>
        ))}
      </ul>
    </Fold>
  </Stack>
);

/** Opens the page of the log-in form; the stored credentials are typed by the server, never by this page. */
function LoginForm({ session: { name, credentials } }: { readonly session: Session }) {
  const [url, setUrl] = useState('');
  const [userField, setUserField] = useState('input[name="username"]');
  const [passwordField, setPasswordField] = useState('input[type="password"]');
  const [failure, setFailure] = useState<unknown>(null);
  const [problem, setProblem] = useState<string | undefined>();
  const action = useAction(['sessions']);
  if (credentials === null) {
    return <Notice>To log in with it, make the session again with credentials.</Notice>;
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const isUrl = /^https?:\/\//i.test(url.trim());
    setProblem(isUrl ? undefined : 'Enter the URL of the log-in page; begin with https://.');
    setFailure(null);
    if (!isUrl) return;
    try {
      await api.post('/v1/sessions/{name}/login', {
        params: { name },
        body: {
          url: url.trim(),
          actions: [
            { type: 'type', selector: userField, text: '{{username}}' },
            { type: 'type', selector: passwordField, text: '{{password}}' },
            { type: 'press', key: 'Enter', selector: passwordField },
            { type: 'wait', until: 'networkidle' },
          ],
        },
      });
      await action.run(async () => {}, 'Logged in.');
    } catch (cause) {
      setFailure(cause);
    }
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="small">
        <h3>Log in</h3>
        <Field label="Log-in page" error={problem ?? problemOf(failure, 'url')}>
          <TextInput
            value={url}
            placeholder="https://shop.example/login"
            onChange={(event) => setUrl(event.target.value)}
          />
        </Field>
        <Row>
          <Field label="Field of the name (CSS)" error={problemOf(failure, 'actions.0')}>
            <TextInput value={userField} onChange={(event) => setUserField(event.target.value)} />
          </Field>
          <Field label="Field of the password (CSS)" error={problemOf(failure, 'actions.1')}>
            <TextInput value={passwordField} onChange={(event) => setPasswordField(event.target.value)} />
          </Field>
        </Row>
        {failure !== null && <FailureNotice failure={failure} />}
        <Row>
          <Button type="submit" icon={LogIn} isBusy={action.isBusy}>
            Log in
          </Button>
        </Row>
      </Stack>
    </form>
  );
}
