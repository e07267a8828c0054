import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { PostgresDatabase, Query } from './database.ts';
import { type Migration, POSTGRES_MIGRATIONS } from './schema/migrations.ts';

/** Migrations of large tables take their time; other processes wait meanwhile. */
const LIMIT_MS = 600_000;
/** Advisory lock held while migrating; a number of our own. */
const LOCK = 5_371_904_266;

/** Applies the missing migrations. Several processes may start at once: one applies them, the others find them applied. */
export async function migratePostgres(
  database: PostgresDatabase,
  migrations: readonly Migration[] = POSTGRES_MIGRATIONS,
): Promise<{ from: number; to: number }> {
  const newest = migrations.length;
  const now = await readVersion(database.query);
  if (now.version >= newest) return accept(now, newest);
  return database.transaction(async (query) => {
    await query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await query(`CREATE TABLE IF NOT EXISTS schema_versions (
      version integer PRIMARY KEY,
      min_reader integer NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`);
    const found = await readVersion(query);
    if (found.version >= newest) return accept(found, newest);
    for (const [at, { sql, minReader }] of migrations.entries()) {
      if (at < found.version) continue;
      await query(sql());
      await query('INSERT INTO schema_versions (version, min_reader) VALUES ($1, $2)', [at + 1, minReader]);
    }
    return { from: found.version, to: newest };
  }, LIMIT_MS);
}

interface Version {
  readonly version: number;
  readonly minReader: number;
}

/** Version 0: there is no schema yet. */
export async function readVersion(query: Query): Promise<Version> {
  const [table] = await query(`SELECT to_regclass('schema_versions') IS NOT NULL AS is_there`);
  if (table?.is_there !== true) return { version: 0, minReader: 0 };
  const [row] = await query(
    `SELECT coalesce(max(version), 0) AS version, coalesce(max(min_reader), 0) AS min_reader FROM schema_versions`,
  );
  return { version: Number(row?.version), minReader: Number(row?.min_reader) };
}

/** A schema that is up to date, or newer and yet understood. */
function accept({ version, minReader }: Version, newest: number): { from: number; to: number } {
  if (minReader > newest) {
    throw new ScrapifieError(
      'SCHEMA_TOO_NEW',
      `The database has schema ${version}, this program knows ${newest}. Upgrade Scrapifie.`,
    );
  }
  return { from: version, to: version };
}
