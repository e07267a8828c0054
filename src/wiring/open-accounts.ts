import { setTimeout as pause } from 'node:timers/promises';
import {
  type Credentials,
  createCredentials,
  createRemoteCredentials,
} from '../capabilities/sessions/credentials.ts';
import { createSessions, type Sessions } from '../capabilities/sessions/sessions.ts';
import { openVault, type Vault } from '../capabilities/sessions/vault.ts';
import type { Settings } from '../core/config/settings.ts';
import { keyFileOf, readVaultKeys, withVaultKeys } from '../core/config/vault-keys.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { SessionStore } from '../core/ports/session-store.ts';
import type { Store } from '../core/ports/store.ts';
import type { Places } from './open-places.ts';
import { openStore, type StorePlace } from './storage.ts';
import type { ThisProcess } from './this-process.ts';

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

/** The accounts that a process uses, and where its jobs are sealed. */
interface ProcessAccounts {
  readonly accounts: Accounts;
  /** Jobs are sealed by the key of the place that has them. */
  readonly vault: Vault | null;
  /** The store that has the accounts, for callers with clients waiting. */
  readonly keptIn: Store;
}

/** Opens the accounts of this installation, or those of the place that is named: a command in a folder of its own uses those of another. */
export async function openProcessAccounts(
  { given, closers }: ThisProcess,
  { settings, store, front, now, onStoreError }: Places,
  accountsIn: StorePlace | undefined,
): Promise<ProcessAccounts> {
  const vault = openVault(settings);
  const open = (keyed: AccountSettings, place: AccountPlace): Accounts => {
    const accounts = openAccounts(keyed, place);
    closers.users.push(() => accounts.close());
    return accounts;
  };
  if (accountsIn === undefined)
    return { accounts: open(settings, { store, vault, now }), vault, keptIn: front };
  const other = await openStore(accountsIn, onStoreError, now);
  closers.places.push(() => other.close());
  const keyed = await withVaultKeys({ ...given, ...accountsIn }, () => other.hasSealed());
  return {
    accounts: open(keyed, { store: other, vault: openVault(keyed), now }),
    vault,
    keptIn: other,
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
