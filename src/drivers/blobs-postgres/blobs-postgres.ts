import { hash as digest, randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { decodeFrame, encodeFrame, isBody, isContentHash } from '../../model/blob-frame.ts';
import type { ContentHash } from '../../model/ids.ts';
import type { Blob, Blobs } from '../../ports/blobs.ts';
import { databaseError } from './database-error.ts';

/** Either the URL of a database, or a pool of connections to it, which stays its owner's to close. */
export type BlobsPostgresOptions = { readonly now: () => number } & (
  | { readonly url: string }
  | { readonly pool: Pool }
);

/** Blobs in a table. */
export interface BlobsPostgres extends Blobs {
  /** Bytes of all bodies, compressed as they lie there. */
  usedBytes(): Promise<number>;
}

/** Bodies go into one statement up to this size: PostgreSQL holds all of it in memory, as text of twice the size. */
const MOST_BYTES_AT_ONCE = 4_194_304;
const LISTED_AT_ONCE = 1_000;
const LIMIT_MS = 10_000;

/** What is there already is compared and written again only where it differs, which can only be damage. */
const PUT = `
  INSERT INTO spilled_blobs (hash, bytes, at) SELECT hash, bytes, $3 FROM unnest($1::text[], $2::bytea[]) AS b (hash, bytes)
  ON CONFLICT (hash) DO UPDATE SET bytes = excluded.bytes, at = excluded.at WHERE spilled_blobs.bytes <> excluded.bytes`;

/**
 * Blobs in the table `spilled_blobs` of the store's database: for bodies that the object store would not take, until
 * it does. Throws STORE_UNAVAILABLE, STORE_REFUSED or DISK_FULL.
 */
export async function createBlobsPostgres(options: BlobsPostgresOptions): Promise<BlobsPostgres> {
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
      if (hashes.length > 0) await query(PUT, [hashes, frames, options.now()]);
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
    const [row] = await query<{ bytes: Buffer }>('SELECT bytes FROM spilled_blobs WHERE hash = $1', [hash]);
    const bytes = row === undefined ? null : decodeFrame(row.bytes);
    return bytes !== null && isBody(bytes, hash) ? bytes : null;
  }

  async function remove(hashes: readonly ContentHash[]): Promise<void> {
    const valid = hashes.filter(isContentHash);
    if (valid.length > 0) await query('DELETE FROM spilled_blobs WHERE hash = ANY ($1::text[])', [valid]);
  }

  async function* list(): AsyncGenerator<ContentHash> {
    for (let last = ''; ; ) {
      const rows = await query<{ hash: ContentHash }>(
        'SELECT hash FROM spilled_blobs WHERE hash > $1 ORDER BY hash LIMIT $2',
        [last, LISTED_AT_ONCE],
      );
      for (const { hash } of rows) yield hash;
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
      return (await query('SELECT FROM spilled_blobs WHERE hash = $1', [hash])).length > 0;
    },
    delete: remove,
    list,
    async usedBytes() {
      // The length of a long value stands in its row: this reads no body.
      const [row] = await query<{ bytes: string }>(
        'SELECT coalesce(sum(octet_length(bytes)), 0)::bigint AS bytes FROM spilled_blobs',
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
    statement_timeout: LIMIT_MS,
    query_timeout: LIMIT_MS,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
  });
  // A connection that breaks while nobody uses it concerns nobody: the next query opens another.
  pool.on('error', () => {});
  return pool;
}
