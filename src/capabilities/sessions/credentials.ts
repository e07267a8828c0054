import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { AccountQuery, CredentialEntry, SessionStore } from '../../core/ports/session-store.ts';
import type { ListPage } from '../../core/ports/store.ts';
import type { Credential } from './credential.ts';
import type { RemoteCredentials } from './remote-credentials.ts';
import type { Session } from './session.ts';
import { lockedBy, VAULT_HINT, type Vault } from './vault.ts';

/** What to log in with, by name. Secrets go in and come out for the engines; no list and no message shows them. */
export interface Credentials {
  /** In place of one of the same name. UNSUPPORTED_OPTION without a vault: nothing is ever kept in the open. */
  put(account: AccountId, name: string, credential: Credential): Promise<void>;
  /** From the vault, else from the service. NOT_FOUND when neither has it. */
  get(account: AccountId, name: string): Promise<Credential>;
  /** Returns null for a session that uses no credential. */
  forSession(session: Pick<Session, 'accountId' | 'wish'>): Promise<Credential | null>;
  /** Whether the vault has it. */
  has(account: AccountId, name: string): Promise<boolean>;
  /** Lists the credentials in the vault. */
  list(query: AccountQuery): Promise<ListPage<CredentialEntry>>;
  delete(account: AccountId, name: string): Promise<boolean>;
}

export interface CredentialsDeps {
  readonly store: SessionStore;
  readonly vault: Vault | null;
  /** Asked for what the vault does not have; null: there is none. */
  readonly service: Pick<RemoteCredentials, 'find'> | null;
  readonly now: () => number;
}

export function createCredentials({ store, vault, service, now }: CredentialsDeps): Credentials {
  const placeOf = (accountId: AccountId, name: string) => ({ kind: 'credential' as const, accountId, name });

  async function get(account: AccountId, name: string): Promise<Credential> {
    const stored = await store.getCredential(account, name);
    if (stored !== null) {
      const place = placeOf(account, name);
      if (vault === null) throw lockedBy(stored.data, place, null);
      return JSON.parse(Buffer.from(vault.open(stored.data, place)).toString('utf8')) as Credential;
    }
    const found = (await service?.find(account, name)) ?? null;
    if (found === null) throw new ScrapifieError('NOT_FOUND', `There are no credentials "${name}".`);
    return found;
  }

  return {
    async put(account, name, credential) {
      if (vault === null) {
        throw new ScrapifieError('UNSUPPORTED_OPTION', `Credentials are only kept encrypted. ${VAULT_HINT}`);
      }
      const plain = Buffer.from(JSON.stringify(credential));
      await store.putCredential({
        accountId: account,
        name,
        kind: credential.kind,
        hosts: credential.hosts,
        data: vault.seal(plain, placeOf(account, name)),
        at: now(),
      });
    },
    get,
    forSession: async ({ accountId, wish }) =>
      wish.credentials === null ? null : get(accountId, wish.credentials),
    has: async (account, name) => (await store.getCredential(account, name)) !== null,
    list: (query) => store.listCredentials(query),
    delete: (account, name) => store.deleteCredential(account, name),
  };
}
