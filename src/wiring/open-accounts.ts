import { setTimeout as pause } from 'node:timers/promises';
import {
  type Credentials,
  createCredentials,
  createRemoteCredentials,
} from '../capabilities/sessions/credentials.ts';
import { createSessions, type Sessions } from '../capabilities/sessions/sessions.ts';
import type { Vault } from '../capabilities/sessions/vault.ts';
import type { Settings } from '../core/config/settings.ts';
import { keyFileOf, readVaultKeys, withVaultKeys } from '../core/config/vault-keys.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { SessionStore } from '../core/ports/session-store.ts';
import type { Store } from '../core/ports/store.ts';

/** What accounts keep besides jobs: their sessions, and what they log in with. */
export interface Accounts {
  readonly sessions: Sessions;
  readonly credentials: Credentials;
  /** Null when the operator allows secrets in the open. */
  readonly vault: Vault | null;
  close(): Promise<void>;
}

type AccountSettings = Pick<
  Settings,
  'credentialServiceUrl' | 'credentialServiceToken' | 'credentialCacheSeconds' | 'sessionHours'
>;

interface AccountPlace {
  readonly store: SessionStore;
  readonly vault: Vault | null;
  readonly now: () => number;
}

export function openAccounts(settings: AccountSettings, { store, vault, now }: AccountPlace): Accounts {
  const { credentialServiceUrl: url, credentialServiceToken: token, sessionHours } = settings;
  const freshMs = settings.credentialCacheSeconds * 1_000;
  const service = url === undefined ? null : createRemoteCredentials({ url, token, freshMs, now, pause });
  return {
    vault,
    sessions: createSessions({ store, vault, now, hours: sessionHours }),
    credentials: createCredentials({ store, vault, service, now }),
    close: async () => service?.close(),
  };
}

/** The settings with the keys of the vault; the log names the file of a key that was made now. */
export async function withOwnVaultKey(
  given: Settings,
  store: Pick<Store, 'hasSealed'>,
  logger: Logger,
): Promise<Settings> {
  const hadKey = readVaultKeys(given).vaultKey !== undefined;
  const settings = await withVaultKeys(given, () => store.hasSealed());
  if (!hadKey && settings.vaultKey !== undefined) {
    const details = { path: keyFileOf(given) };
    logger.info(details, 'vault: a key was made; keep a copy of it, apart from copies of the data folder');
  }
  return settings;
}
