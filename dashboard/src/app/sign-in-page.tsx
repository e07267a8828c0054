import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { sessionQuery, signIn } from '../api/session.ts';
import { Button } from '../kit/button.tsx';
import { Field, TextInput } from '../kit/field.tsx';
import { Card, Stack } from '../kit/layout.tsx';
import { FailureNotice, Notice } from '../kit/states.tsx';
import styles from './sign-in-page.module.css';

/** Only a path of this server: an address such as `//evil.example` would lead away. */
function backPath(): string {
  const back = new URLSearchParams(location.search).get('back') ?? '/';
  return /^\/(?![/\\])/.test(back) && !back.startsWith('/sign-in') ? back : '/';
}

/** Takes the one-time token out of the address at once, so that it is in no history and no screenshot. */
function takeToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}

export function SignInPage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [isByLink, setIsByLink] = useState(false);
  const hasStarted = useRef(false);

  const enter = async (secret: { key: string } | { token: string }) => {
    setIsBusy(true);
    setFailure(null);
    try {
      await signIn(secret);
      client.clear();
      await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
      await navigate({ href: backPath(), replace: true });
    } catch (cause) {
      setFailure(cause);
    } finally {
      setIsBusy(false);
      setIsByLink(false);
    }
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with the token of the address the page was opened by
  useEffect(() => {
    if (hasStarted.current) return;
    hasStarted.current = true;
    const token = takeToken();
    if (token === null) return;
    setIsByLink(true);
    void enter({ token });
  }, []);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const trimmed = key.trim();
    setProblem(trimmed === '' ? 'Enter the key that was shown when it was created.' : null);
    if (trimmed !== '') void enter({ key: trimmed });
  };

  return (
    <main className={styles.page}>
      <title>Sign in · Scrapifie</title>
      <div className={styles.brand}>
        <img src="/icon.svg" alt="" width={32} height={32} />
        <h1>Scrapifie</h1>
      </div>
      <Card className={styles.card}>
        {isByLink ? (
          <Notice>Signing in…</Notice>
        ) : (
          <form onSubmit={submit} noValidate>
            <Stack>
              <Field label="API key" {...(problem !== null && { error: problem })}>
                <TextInput
                  type="password"
                  autoComplete="current-password"
                  value={key}
                  onChange={(event) => setKey(event.target.value)}
                />
              </Field>
              {failure !== null && <FailureNotice failure={failure} isSigningIn />}
              <Button kind="primary" type="submit" icon={KeyRound} isBusy={isBusy}>
                Sign in
              </Button>
              <p className={styles.help}>
                No key at hand? On the computer of the server run <code>scrapifie dashboard</code> for a link
                that signs in by itself, or <code>scrapifie keys create</code> for a key.
              </p>
            </Stack>
          </form>
        )}
      </Card>
    </main>
  );
}
