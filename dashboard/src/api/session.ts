import { queryOptions } from '@tanstack/react-query';
import { send } from './client.ts';

/** Who uses the dashboard, as the server knows them by the session's cookie. */
export type Session =
  | { readonly signedIn: false; readonly version?: string }
  | {
      readonly signedIn: true;
      readonly account: { readonly id: string; readonly name: string };
      readonly key: { readonly id: string; readonly prefix: string; readonly name: string | null } | null;
      readonly scopes: readonly string[];
      readonly isAdmin: boolean;
      readonly version: string;
      readonly profile: 'embedded' | 'fleet';
    };
export type SignedIn = Extract<Session, { signedIn: true }>;

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => send<Session>({ method: 'GET', path: '/dashboard/session', signal }),
  staleTime: 60_000,
});

export const signIn = (secret: { key: string } | { token: string }): Promise<unknown> =>
  send({ method: 'POST', path: '/dashboard/session', body: secret });

export const signOut = (): Promise<unknown> => send({ method: 'DELETE', path: '/dashboard/session' });
