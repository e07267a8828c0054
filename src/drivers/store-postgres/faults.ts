import pg from 'pg';
import type { ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** Address and user of the database, as far as messages may name them. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

const RETRY_AFTER_MS = 2_000;

/** Two transactions got in each other's way and this one was undone: the same again works. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01']);

interface Fault {
  readonly code: ErrorCode;
  readonly say: (address: Address) => string;
}

const place = ({ host, port }: Address) => `PostgreSQL at ${host}:${port}`;
const unavailable = (what: string): Fault => ({
  code: 'STORE_UNAVAILABLE',
  say: (address) => `${place(address)} ${what}.`,
});
const refused = (say: Fault['say']): Fault => ({ code: 'STORE_REFUSED', say });
const damaged: Fault = {
  code: 'DATABASE_CORRUPT',
  say: (address) => `The database ${address.database} of ${place(address)} is damaged.`,
};
const loginRefused = refused(
  (address) => `${place(address)} refuses user ${address.user} for database ${address.database}.`,
);

const unstorable = (why: string): Fault => ({
  code: 'UNSTORABLE',
  say: (address) => `${place(address)} cannot keep what it was sent (${why}).`,
});
/** A user without rights on the schema does not see its tables. */
const nothingThere = refused(
  ({ user, database, ...at }) =>
    `Database ${database} of ${place({ ...at, user, database })} shows user ${user} no tables of Scrapifie.`,
);

/** SQLSTATE codes that the operator can act on. */
const FAULTS: Readonly<Record<string, Fault>> = {
  '28P01': refused((address) => `${place(address)} refuses the password of user ${address.user}.`),
  '28000': loginRefused,
  '42501': refused(
    (address) => `User ${address.user} lacks rights on database ${address.database} of ${place(address)}.`,
  ),
  '3D000': refused((address) => `${place(address)} has no database ${address.database}.`),
  '3F000': nothingThere,
  '42P01': nothingThere,
  '42883': nothingThere,
  '53100': { code: 'DISK_FULL', say: (address) => `No space left on the disk of ${place(address)}.` },
  '53200': unavailable('has no memory left'),
  '53300': unavailable('has no connection left'),
  '55P03': unavailable('was kept waiting for a lock for too long'),
  '57014': unavailable('took too long'),
  '57P01': unavailable('is shutting down'),
  '57P02': unavailable('has crashed and recovers'),
  '57P03': unavailable('is starting up or shutting down'),
  '57P05': unavailable('closed an idle connection'),
  '25P03': unavailable('closed an idle connection'),
  '25006': unavailable('takes no writes: it is a standby'),
  '40001': unavailable('is too busy with the same rows'),
  '40P01': unavailable('is too busy with the same rows'),
  '58030': unavailable('cannot read or write its files'),
  XX001: damaged,
  XX002: damaged,
};

/** By the first two characters, where a whole class of them means the same. */
const FAULT_CLASSES: Readonly<Record<string, (state: string) => Fault>> = {
  '08': () => unavailable('lost the connection'),
  '53': (state) => unavailable(`has too little of what it needs (${state})`),
  '58': (state) => unavailable(`failed in its own system (${state})`),
  // Values, constraints, limits of the program and unsupported features: the statement is sound, its content is not.
  '22': unstorable,
  '23': unstorable,
  '54': unstorable,
  '0A': unstorable,
};

/** Errors of the socket and of the client library, which have no SQLSTATE. */
const LOST_CODE =
  /^(?:ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_|EADDRNOTAVAIL)/;
const LOST_TEXT = /connection terminated|timeout|connection error|not queryable|connection was closed/i;
const UNTRUSTED_CODE = /CERT|SELF_SIGNED|UNABLE_TO_/;

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? '');

export const isConflict = (error: unknown): boolean => CONFLICTS.has(codeOf(error));

/** The server said no to the statement, and the connection is as good as before. */
export function isAnswer(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(?:08|57P|25P03)/.test(codeOf(error));
}

/** What may leave the driver. Faults of the program pass as they are. */
export function translate(error: unknown, address: Address): unknown {
  if (isScrapifieError(error)) return error;
  const fault = faultOf(error);
  if (fault === null) return error;
  const isLater = fault.code === 'STORE_UNAVAILABLE' || fault.code === 'DISK_FULL';
  return new ScrapifieError(fault.code, fault.say(address), {
    cause: error,
    ...(isLater ? { retryAfterMs: RETRY_AFTER_MS } : {}),
  });
}

/** PgBouncer says nearly everything with one code, "protocol violation". */
const POOLER_STATE = '08P01';

function poolerFault(message: string): Fault | null {
  if (/unsupported startup parameter/.test(message)) {
    return refused(
      (at) =>
        `${place(at)} is a pooler, which lets clients have no settings of their own. Add pgbouncer=true to the URL of the database.`,
    );
  }
  if (/no such (?:database|user)|does not exist|authentication failed|password/i.test(message))
    return loginRefused;
  return /pool_size|max_client_conn|no more connections/.test(message)
    ? unavailable('has no connection left')
    : null;
}

function faultOf(error: unknown): Fault | null {
  const code = codeOf(error);
  if (error instanceof pg.DatabaseError) {
    const pooler = code === POOLER_STATE ? poolerFault(error.message) : null;
    if (pooler !== null) return pooler;
    return FAULTS[code] ?? FAULT_CLASSES[code.slice(0, 2)]?.(code) ?? null;
  }
  // Longer than a text can be, so that it could not even be sent.
  if (error instanceof RangeError && /string length|ERR_STRING_TOO_LONG/.test(`${error.message} ${code}`)) {
    return unstorable('too long');
  }
  const message = error instanceof Error ? error.message : '';
  // The server asks for a password and none was given.
  if (message.startsWith('SASL')) return loginRefused;
  if (message.includes('does not support SSL')) return refused((at) => `${place(at)} does not speak TLS.`);
  if (UNTRUSTED_CODE.test(code)) {
    return refused((at) => `The certificate of ${place(at)} is not trusted (${code}).`);
  }
  if (LOST_CODE.test(code)) return unavailable(`did not answer (${code})`);
  return LOST_TEXT.test(message) ? unavailable('did not answer') : null;
}
