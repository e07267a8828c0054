import { hash as digest, randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { isPooledUrl } from '../../core/config/place-urls.ts';
import type { ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import { decodeFrame, encodeFrame, isBody, isContentHash } from '../../core/model/page-record.ts';
import { type Blob, type BlobCopy, type Blobs, RELIED_ON_MS } from '../../core/ports/blobs.ts';

/** Either the URL of a database, or a pool of connections to it, which stays its owner's to close. */
export type BlobsPostgresOptions = {
  /** Which table of the store's schema; that of bodies by default. */
  readonly table?: 'spilled_blobs' | 'transit_blobs';
  /** The age up to which a put relies on an existing copy. */
  readonly reliedOnMs?: number;
} & ({ readonly url: string } | { readonly pool: Pool });

/** Blobs in a table. */
export interface BlobsPostgres extends Blobs {
  /** Bytes of all bodies, compressed as they lie there. */
  usedBytes(): Promise<number>;
}

/** Bodies go into one statement up to this size: PostgreSQL holds all of it in memory, as text of twice the size. */
const MOST_BYTES_AT_ONCE = 4_194_304;
const LISTED_AT_ONCE = 1_000;
const LIMIT_MS = 10_000;
/** Stands for an age that is never reached. */
const NEVER_OLD_MS = 1_000_000_000_000_000;

/** Ages are by the clock of the database, which all processes share. */
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** Codes by SQLSTATE; any other error may pass by itself. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  '28000': 'STORE_REFUSED',
  '28P01': 'STORE_REFUSED',
  '3D000': 'STORE_REFUSED',
  '42501': 'STORE_REFUSED',
  '53100': 'DISK_FULL',
};

/**
 * An existing blob is written again where it differs, which can only be damage, or where it is old: `at` then
 * changes, so that a removal of the row as it was listed before does nothing.
 */
const putInto = (table: string) => `
  INSERT INTO ${table} AS kept (hash, bytes, at)
  SELECT hash, bytes, ${NOW} FROM unnest($1::text[], $2::bytea[]) AS b (hash, bytes)
  ON CONFLICT (hash) DO UPDATE SET bytes = excluded.bytes, at = greatest(excluded.at, kept.at + 1)
  WHERE kept.bytes <> excluded.bytes OR kept.at <= excluded.at - $3::bigint`;

/**
 * Blobs in a table of the store's database: for bodies that the object store would not take, until it does. Throws
 * STORE_UNAVAILABLE, STORE_REFUSED or DISK_FULL.
 */
export async function createBlobsPostgres(options: BlobsPostgresOptions): Promise<BlobsPostgres> {
  const { table = 'spilled_blobs', reliedOnMs = RELIED_ON_MS } = options;
  const putStatement = putInto(table);
  const pool = 'pool' in options ? options.pool : openPool(options.url);

  async function query<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
    try {
      return (await pool.query<Row>(text, values)).rows;
    } catch (error) {
      throw databaseError(error);
    }
  }

  async function put(blobs: readonly Blob[]): Promise<void> {
    for (const { hash } of blobs)
      if (!isContentHash(hash)) throw new TypeError(`Not a content hash: ${hash}`);
    // In one order for everybody, so that two puts of the same bodies wait for each other and never in a circle.
    const all = [...new Map(blobs.map(({ hash, bytes }) => [hash, bytes]))].sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    let hashes: ContentHash[] = [];
    let frames: Uint8Array[] = [];
    let bytesTogether = 0;
    const send = async () => {
      if (hashes.length > 0) await query(putStatement, [hashes, frames, Math.min(reliedOnMs, NEVER_OLD_MS)]);
      hashes = [];
      frames = [];
      bytesTogether = 0;
    };
    for (const [hash, bytes] of all) {
      const frame = encodeFrame([bytes]);
      if (bytesTogether + frame.length > MOST_BYTES_AT_ONCE) await send();
      hashes.push(hash);
      frames.push(frame);
      bytesTogether += frame.length;
    }
    await send();
  }

  async function get(hash: ContentHash): Promise<Uint8Array | null> {
    if (!isContentHash(hash)) return null;
    const [row] = await query<{ bytes: Buffer }>(`SELECT bytes FROM ${table} WHERE hash = $1`, [hash]);
    const bytes = row === undefined ? null : decodeFrame(row.bytes);
    return bytes !== null && isBody(bytes, hash) ? bytes : null;
  }

  async function remove(hashes: readonly ContentHash[]): Promise<void> {
    const valid = hashes.filter(isContentHash);
    if (valid.length > 0) await query(`DELETE FROM ${table} WHERE hash = ANY ($1::text[])`, [valid]);
  }

  async function* list(): AsyncGenerator<BlobCopy> {
    for (let last = ''; ; ) {
      const rows = await query<{ hash: ContentHash; id: string; bytes: number; age: string }>(
        `SELECT hash, at::text AS id, octet_length(bytes) AS bytes, greatest(0, ${NOW} - at) AS age
         FROM ${table} WHERE hash > $1 ORDER BY hash LIMIT $2`,
        [last, LISTED_AT_ONCE],
      );
      for (const { hash, id, bytes, age } of rows) {
        yield { hash, id, storedBytes: bytes, ageMs: Number(age), isSpare: false };
      }
      const end = rows.at(-1);
      if (end === undefined) return;
      last = end.hash;
    }
  }

  return {
    put,
    get,
    async has(hash) {
      if (!isContentHash(hash)) return false;
      return (await query(`SELECT FROM ${table} WHERE hash = $1`, [hash])).length > 0;
    },
    delete: remove,
    list,
    async remove(copies) {
      if (copies.length === 0) return;
      await query(
        `DELETE FROM ${table} kept USING unnest($1::text[], $2::bigint[]) AS c (hash, at)
         WHERE kept.hash = c.hash AND kept.at = c.at`,
        [copies.map(({ hash }) => hash), copies.map(({ id }) => id)],
      );
    },
    // PostgreSQL's autovacuum gives space back by itself.
    compact: async () => undefined,
    async usedBytes() {
      // The length of a long value stands in its row: this reads no body.
      const [row] = await query<{ bytes: string }>(
        `SELECT coalesce(sum(octet_length(bytes)), 0)::bigint AS bytes FROM ${table}`,
        [],
      );
      return Number(row?.bytes ?? 0);
    },
    async check() {
      // Random, so that several checks at once do not remove each other's probe.
      const bytes = randomBytes(64);
      const hash = digest('sha256', bytes, 'hex') as ContentHash;
      await put([{ hash, bytes }]);
      const kept = await get(hash);
      await remove([hash]);
      if (kept === null) {
        throw new ScrapifieError(
          'STORE_UNAVAILABLE',
          'A body stored in the database could not be read back.',
        );
      }
    },
    async close() {
      if ('url' in options) await pool.end();
    },
  };
}

/** Few connections, because bodies come here only while the object store is away. */
function openPool(url: string): Pool {
  const pool = new Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: LIMIT_MS,
    ...(isPooledUrl(url) ? {} : { statement_timeout: LIMIT_MS }),
    query_timeout: LIMIT_MS,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
  });
  // An idle connection that breaks is ignored: the next query opens another.
  pool.on('error', () => {});
  return pool;
}

/** Gives a failed query the code that says what to do about it. The driver's own text stays in the cause. */
function databaseError(error: unknown): ScrapifieError {
  const name =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
  const code = CODES[name ?? ''] ?? 'STORE_UNAVAILABLE';
  const said =
    code === 'DISK_FULL'
      ? 'No space is left in the database for bodies'
      : code === 'STORE_REFUSED'
        ? 'The database does not let us keep bodies in it'
        : 'The database did not answer about a body';
  return new ScrapifieError(code, `${said} (${name ?? 'no answer'}).`, { cause: error });
}
