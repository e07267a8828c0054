import type { ConnectionOptions } from 'node:tls';
import { Agent } from 'undici';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type AccountId, DEFAULT_ACCOUNT } from '../../core/model/ids.ts';
import type { AccountQuery, CredentialEntry, SessionStore } from '../../core/ports/session-store.ts';
import type { ListPage } from '../../core/ports/store.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { urlPart } from '../../lib/url-part.ts';
import { type Credential, credentialInputSchema } from './credential.ts';
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

const FRESH_MS = 300_000;
const MAX_CACHED = 1_000;
/** Pauses before each retry. */
const PAUSES_MS = [1_000, 2_000, 4_000] as const;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 65_536;

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

/**
 * Credentials that another program looks after: `GET <url>/<name>` with a bearer token for the account "default",
 * `GET <url>/<account>/<name>` for every other account, so that no account is given what is another's.
 */
interface RemoteCredentials {
  /** Null when it knows none of that name. What it said is good for `freshMs`. */
  find(account: AccountId, name: string): Promise<Credential | null>;
  close(): Promise<void>;
}

export interface RemoteCredentialsOptions {
  readonly url: string;
  readonly token: string | undefined;
  /** How long an answer is used without asking again; five minutes by default. */
  readonly freshMs?: number | undefined;
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
  /** Trust other certificates than the system's. */
  readonly tls?: ConnectionOptions;
}

/** Where failing is a matter of the moment. */
const isPassing = (status: number) => status >= 500 || status === 429 || status === 408;

export function createRemoteCredentials(options: RemoteCredentialsOptions): RemoteCredentials {
  const { now, pause, freshMs = FRESH_MS } = options;
  const place = URL.parse(options.url);
  if (place === null || place.protocol !== 'https:') {
    throw new ScrapifieError('INVALID_SETTINGS', 'SCRAPIFIE_CREDENTIAL_SERVICE_URL must be an https URL.');
  }
  const base = place.href.replace(/\/+$/, '');
  const agent = new Agent({
    connect: { ...options.tls, timeout: TIMEOUT_MS } as Agent.Options['connect'],
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: MAX_BYTES,
  } as Agent.Options);
  const known = new BoundedMap<string, { readonly credential: Credential; readonly at: number }>(MAX_CACHED);
  /** One request at a time for each account and name. */
  const asked = new Map<string, Promise<Credential | null>>();

  async function ask(name: string, path: string): Promise<Credential | null> {
    for (let tries = 0; ; tries += 1) {
      const answer = await once(name, path);
      if (typeof answer !== 'string') return answer;
      const pauseMs = PAUSES_MS[tries];
      if (pauseMs === undefined) throw silent(answer, tries + 1);
      await pause(pauseMs);
    }
  }

  /** Why it has to be asked again, where it answered nothing that counts. */
  async function once(name: string, path: string): Promise<Credential | null | string> {
    try {
      const { statusCode, body } = await agent.request({
        origin: place?.origin ?? '',
        path: new URL(`${base}/${path}`).pathname,
        method: 'GET',
        headers: {
          accept: 'application/json',
          ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await body.text();
      if (statusCode === 200) return read(name, text);
      if (statusCode === 404) return null;
      if (isPassing(statusCode)) return `status ${statusCode}`;
      throw refused(statusCode);
    } catch (error) {
      if (isScrapifieError(error)) throw error;
      // The code alone: a message may quote what was sent or received.
      const { code, name: kind } = error as { code?: string; name?: string };
      return code ?? kind ?? 'no answer';
    }
  }

  const silent = (why: string, tries: number) =>
    new ScrapifieError(
      'CREDENTIALS_UNAVAILABLE',
      `The credential service at ${place.host} did not answer, ${tries} times (${why}).`,
    );
  const refused = (status: number) =>
    new ScrapifieError(
      'INVALID_SETTINGS',
      `The credential service at ${place.host} answers with status ${status}; check its URL and SCRAPIFIE_CREDENTIAL_SERVICE_TOKEN.`,
    );

  return {
    async find(account, name) {
      const path = pathOf(account, name);
      const cached = known.get(path);
      if (cached !== undefined && Math.abs(now() - cached.at) < freshMs) return cached.credential;
      let asking = asked.get(path);
      if (asking === undefined) {
        asking = ask(name, path).finally(() => asked.delete(path));
        asked.set(path, asking);
      }
      const credential = await asking;
      if (credential === null) known.delete(path);
      else known.set(path, { credential, at: now() });
      return credential;
    },
    close: () => agent.close(),
  };
}

/** Names of credentials have no slash, so the paths of two accounts never meet. */
function pathOf(account: AccountId, name: string): string {
  const parts = account === DEFAULT_ACCOUNT ? [name] : [account, name];
  return parts.map(urlPart).join('/');
}

/** Says which fields are wrong, never what they hold. */
function read(name: string, text: string): Credential {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw wrong(name, 'it is no JSON');
  }
  const parsed = credentialInputSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path }) => path.slice(0, 1).map(String).join('') || 'its fields');
  throw wrong(name, `wrong: ${[...new Set(fields)].join(', ')}`);
}

const wrong = (name: string, why: string) =>
  new ScrapifieError(
    'INVALID_SETTINGS',
    `What the credential service says of "${name}" is no credential (${why}).`,
  );
