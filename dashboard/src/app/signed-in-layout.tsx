import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { sessionQuery } from '../api/session.ts';
import { FailureState } from '../kit/states.tsx';
import { LiveEvents } from './live-events.tsx';
import { SessionContext } from './session-context.ts';
import { Shell } from './shell.tsx';

/** Leads to the sign-in page where there is no session, and back afterwards. */
export function SignedInLayout() {
  const session = useQuery(sessionQuery);
  if (session.data === undefined) {
    if (session.error === null) return null;
    return (
      <main>
        <FailureState isPage failure={session.error} onRetry={() => void session.refetch()} />
      </main>
    );
  }
  if (!session.data.signedIn) return <ToSignIn />;
  return (
    <SessionContext value={session.data}>
      <LiveEvents>
        <Shell />
      </LiveEvents>
    </SessionContext>
  );
}

/**
 * Goes to the sign-in page once. The address to come back to is read when this is first shown and never followed: the
 * router names the sign-in page as the place while its code still loads, and an address that followed it would lead there again without end.
 */
function ToSignIn() {
  const router = useRouter();
  const [back] = useState(() => router.state.location.href);
  useEffect(() => void router.navigate({ to: '/sign-in', search: { back }, replace: true }), [router, back]);
  return null;
}
