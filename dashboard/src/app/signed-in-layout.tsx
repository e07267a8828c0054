import { useQuery } from '@tanstack/react-query';
import { Navigate, useLocation } from '@tanstack/react-router';
import { sessionQuery } from '../api/session.ts';
import { FailureState } from '../kit/states.tsx';
import { LiveEvents } from './live-events.tsx';
import { SessionContext } from './session-context.ts';
import { Shell } from './shell.tsx';

/** Leads to the sign-in page where there is no session, and back afterwards. */
export function SignedInLayout() {
  const session = useQuery(sessionQuery);
  const { href } = useLocation();
  if (session.data === undefined) {
    if (session.error === null) return null;
    return <FailureState failure={session.error} onRetry={() => void session.refetch()} />;
  }
  if (!session.data.signedIn) return <Navigate to="/sign-in" search={{ back: href }} replace />;
  return (
    <SessionContext value={session.data}>
      <LiveEvents>
        <Shell />
      </LiveEvents>
    </SessionContext>
  );
}
