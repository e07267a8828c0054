import { createContext, use } from 'react';
import type { SignedIn } from '../api/session.ts';

export const SessionContext = createContext<SignedIn | null>(null);

/** The session of the person who uses the page. Only below the layout of pages that need one. */
export function useSession(): SignedIn {
  const session = use(SessionContext);
  if (session === null) throw new Error('useSession is called outside of the pages that need a session.');
  return session;
}

/** Whether the key behind the session may do this, such as `jobs:write`. */
export const useCan = (scope: string): boolean => {
  const { scopes } = useSession();
  return scopes.includes(scope) || scopes.includes('admin') || scopes.includes('*');
};
