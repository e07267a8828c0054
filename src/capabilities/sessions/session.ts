import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { SessionEntry, StoredSession } from '../../core/ports/session-store.ts';
import { type SessionData, unpackData } from './session-data.ts';
import type { Vault } from './vault.ts';

/**
 * A returning visitor: the same proxy, the same browser identity, the same cookies. A session belongs to one account, has a
 * name, and ends a fixed time after it was made.
 */
export interface Session extends SessionEntry, SessionData {
  /** Version of the stored data that this session was read from. */
  readonly version: number;
}

export function readSession(stored: StoredSession, vault: Vault | null): Session {
  const { data, ...entry } = stored;
  return { ...entry, ...unpackData(data, vault, sessionPlace(entry)) };
}

export const sessionPlace = ({ accountId, name }: Pick<SessionEntry, 'accountId' | 'name'>) => ({
  kind: 'session' as const,
  accountId,
  name,
});

export function dataOf({ proxy, identity, cookies, localStorage, dropped }: Session): SessionData {
  return { proxy, identity, cookies, localStorage, dropped };
}

export const hasEnded = ({ expiresAt }: SessionEntry, now: number): boolean => expiresAt <= now;

export function requireLiving(session: SessionEntry, now: number): void {
  if (!hasEnded(session, now)) return;
  const end = new Date(session.expiresAt).toISOString();
  throw new ScrapifieError(
    'SESSION_EXPIRED',
    `The session "${session.name}" ended at ${end}. Delete it to begin anew under this name, or use another.`,
  );
}

/** What sessions and credentials are called: fit for a URL, a file and a log line. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
export const NAME_RULE = '1 to 100 letters, digits, dots, dashes and underscores, a letter or digit first';
