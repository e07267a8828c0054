import { randomUUID } from 'node:crypto';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, SessionId } from '../../core/model/ids.ts';
import type {
  AccountQuery,
  SessionEntry,
  SessionStore,
  SessionWish,
  StoredSession,
} from '../../core/ports/session-store.ts';
import type { ListPage } from '../../core/ports/store.ts';
import {
  dataAfter,
  dataOf,
  lend,
  readSession,
  requireLiving,
  type Session,
  type SessionUse,
  type SessionUseEnd,
  sessionPlace,
} from './session.ts';
import { isSameData, mergeData, NO_DATA, packData, type SessionData, withinLimits } from './session-data.ts';
import type { Vault } from './vault.ts';

export interface Sessions {
  /**
   * Makes a session. CONFLICT when the account has one of that name, unless it was made by the same wish and
   * `mayExist`: that one is returned then.
   */
  create(account: AccountId, wish: NamedWish, mayExist?: boolean): Promise<Created>;
  /** The session of this name, made on its first use. SESSION_EXPIRED when it has ended. */
  open(account: AccountId, name: string): Promise<Session>;
  /** For looking at: ended ones too. NOT_FOUND when there is none. */
  get(account: AccountId, name: string): Promise<Session>;
  list(query: AccountQuery): Promise<ListPage<SessionEntry>>;
  delete(account: AccountId, name: string): Promise<boolean>;
  /** Opens it for one attempt. Each attempt begins anew, so that it sees what others have stored meanwhile. */
  begin(account: AccountId, name: string): Promise<SessionUse>;
  /**
   * Stores what the attempt changed, together with what others changed meanwhile, and counts it. False when the
   * session was deleted: nothing is kept then.
   */
  end(use: SessionUse, end: SessionUseEnd): Promise<boolean>;
  /** Stores `after` in place of what `session` was read with; what others changed meanwhile stays. */
  save(session: Session, after: SessionData): Promise<boolean>;
  /** Deletes sessions that ended a day ago or earlier; returns how many. */
  sweep(): Promise<number>;
}

export interface NamedWish extends SessionWish {
  readonly name: string;
  /** When null, the session is kept as long as the settings say. */
  readonly hours: number | null;
}

export interface Created {
  readonly session: Session;
  readonly isNew: boolean;
}

export interface SessionsDeps {
  readonly store: SessionStore;
  /** Null when sessions are stored as they are. */
  readonly vault: Vault | null;
  readonly now: () => number;
  /** How long a session lasts. */
  readonly hours: number;
}

const HOUR_MS = 3_600_000;
/** For so long an ended session answers by its name that it has ended, rather than begin anew without a word. */
const REMEMBERED_MS = 24 * HOUR_MS;
const MOST_SWEPT = 1_000;
/** A change of a session is tried so often: a try fails when another change was stored since the session was read. */
const MOST_TRIES = 20;
const NO_WISH: SessionWish = { credentials: null, proxy: null, identity: null };

export function createSessions({ store, vault, now, hours }: SessionsDeps): Sessions {
  /** The last save of each session in this process: one after the other they do not get in each other's way. */
  const saving = new Map<SessionId, Promise<unknown>>();

  async function openStored(account: AccountId, wish: NamedWish): Promise<Created> {
    const at = now();
    const { name, credentials, proxy, identity } = wish;
    const id = randomUUID() as SessionId;
    const stored = await store.openSession({
      id,
      accountId: account,
      name,
      wish: { credentials, proxy, identity },
      createdAt: at,
      expiresAt: at + (wish.hours ?? hours) * HOUR_MS,
      data: packData(NO_DATA, vault, sessionPlace({ accountId: account, name })),
    });
    return { session: readSession(stored, vault), isNew: stored.id === id };
  }

  async function find(account: AccountId, name: string): Promise<StoredSession> {
    const stored = await store.getSession(account, name);
    if (stored === null) throw new ScrapifieError('NOT_FOUND', `There is no session "${name}".`);
    return stored;
  }

  async function open(account: AccountId, name: string): Promise<Session> {
    const known = await store.getSession(account, name);
    const session =
      known === null
        ? (await openStored(account, { ...NO_WISH, name, hours: null })).session
        : readSession(known, vault);
    requireLiving(session, now());
    return session;
  }

  async function write(session: Session, after: SessionData): Promise<boolean> {
    const before = dataOf(session);
    const use = { id: session.id, at: now(), requests: 1 };
    if (isSameData(before, after)) {
      await store.touchSessions([use]);
      return true;
    }
    let current = session;
    for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
      const merged = withinLimits(mergeData(before, after, dataOf(current)), use.at);
      const data = packData(merged, vault, sessionPlace(session));
      if (await store.updateSession({ ...use, version: current.version, data })) return true;
      const stored = await store.getSession(session.accountId, session.name);
      if (stored === null || stored.id !== session.id) return false;
      current = readSession(stored, vault);
    }
    throw new ScrapifieError('CONFLICT', `Too many write to the session "${session.name}" at once.`);
  }

  function save(session: Session, after: SessionData): Promise<boolean> {
    const { id } = session;
    const earlier = saving.get(id) ?? Promise.resolve();
    const written = earlier.then(() => write(session, after));
    const settled = written.then(
      () => undefined,
      () => undefined,
    );
    saving.set(id, settled);
    void settled.then(() => {
      if (saving.get(id) === settled) saving.delete(id);
    });
    return written;
  }

  return {
    async create(account, wish, mayExist = false) {
      const created = await openStored(account, wish);
      const { session, isNew } = created;
      if (isNew || (mayExist && isSameWish(session, wish, hours))) return created;
      throw new ScrapifieError(
        mayExist ? 'IDEMPOTENCY_MISMATCH' : 'CONFLICT',
        `There is a session "${session.name}" already; delete it first, or use another name.`,
      );
    },
    open,
    get: async (account, name) => readSession(await find(account, name), vault),
    list: (query) => store.listSessions(query),
    delete: (account, name) => store.deleteSession(account, name),
    begin: async (account, name) => lend(await open(account, name)),
    end: (use, end) => save(use.session, dataAfter(use, end, now())),
    save,
    sweep: () => store.deleteEndedSessions(now() - REMEMBERED_MS, MOST_SWEPT),
  };
}

function isSameWish({ wish, createdAt, expiresAt }: SessionEntry, other: NamedWish, hours: number): boolean {
  const { credentials, proxy, identity } = other;
  return (
    expiresAt - createdAt === (other.hours ?? hours) * HOUR_MS &&
    wish.credentials === credentials &&
    wish.identity === identity &&
    (wish.proxy?.tier ?? null) === (proxy?.tier ?? null) &&
    (wish.proxy?.country ?? null) === (proxy?.country ?? null)
  );
}
