import { setTimeout as pause } from 'node:timers/promises';
import type { Settings } from '../config/settings.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { type Credentials, createCredentials } from '../sessions/credentials.ts';
import { createRemoteCredentials } from '../sessions/remote-credentials.ts';
import { createSessions, type Sessions } from '../sessions/sessions.ts';
import { openVault, type Vault, type VaultKeys } from '../sessions/vault.ts';

/** What accounts keep besides jobs: their sessions, and what they log in with. */
export interface Accounts {
  readonly sessions: Sessions;
  readonly credentials: Credentials;
  /** Null: the operator allows secrets in the open. */
  readonly vault: Vault | null;
  close(): Promise<void>;
}

type AccountSettings = VaultKeys &
  Pick<
    Settings,
    'credentialServiceUrl' | 'credentialServiceToken' | 'credentialCacheSeconds' | 'sessionHours'
  >;

export function openAccounts(settings: AccountSettings, store: SessionStore, now: () => number): Accounts {
  const { credentialServiceUrl: url, credentialServiceToken: token, sessionHours } = settings;
  const vault = openVault(settings);
  const freshMs = settings.credentialCacheSeconds * 1_000;
  const service = url === undefined ? null : createRemoteCredentials({ url, token, freshMs, now, pause });
  return {
    vault,
    sessions: createSessions({ store, vault, now, hours: sessionHours }),
    credentials: createCredentials({ store, vault, service, now }),
    close: async () => service?.close(),
  };
}
