import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { PostgresFacts } from '../../core/ports/server-facts.ts';
import { NOW, openPostgresDatabase, type PostgresDatabase, type Query } from './database.ts';
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

/** Looks at a server and changes nothing. Throws STORE_UNAVAILABLE or STORE_REFUSED. */
export async function inspectPostgres(url: string): Promise<PostgresFacts> {
  const database = openPostgresDatabase({ url, poolSize: 1, applicationName: 'scrapifie doctor' });
  try {
    const askedAt = Date.now();
    const [row] = await database.query(`
      SELECT current_setting('server_version') AS version,
        current_setting('server_version_num')::integer / 10000 AS major,
        coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS can_create,
        pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS is_read_only,
        pg_encoding_to_char(d.encoding) AS encoding,
        current_setting('max_connections')::integer
          - current_setting('superuser_reserved_connections')::integer AS most,
        d.datconnlimit AS most_of_database,
        (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS most_of_user,
        (SELECT sum(numbackends)::integer FROM pg_stat_database) AS used,
        (SELECT numbackends FROM pg_stat_database WHERE datname = current_database()) AS used_of_database,
        (SELECT count(*)::integer FROM pg_stat_activity WHERE usename = current_user) AS used_of_user,
        ${NOW} AS now
      FROM pg_database d WHERE d.datname = current_database()`);
    const tookMs = Date.now() - askedAt;
    const { version, minReader } = await readVersion(database.query);
    const number = (name: string) => Number(row?.[name] ?? -1);
    const limits = [
      { most: number('most'), used: number('used') },
      { most: number('most_of_database'), used: number('used_of_database') },
      { most: number('most_of_user'), used: number('used_of_user') },
    ].filter(({ most }) => most >= 0);
    return {
      version: String(row?.version),
      majorVersion: number('major'),
      schemaVersion: version,
      minReader,
      newestSchema: POSTGRES_MIGRATIONS.length,
      canCreateTables: row?.can_create === true,
      isReadOnly: row?.is_read_only === true,
      encoding: String(row?.encoding),
      freeConnections: Math.min(...limits.map(({ most, used }) => most - used)),
      mostConnections: Math.min(...limits.map(({ most }) => most)),
      aheadMs: number('now') - askedAt - tookMs / 2,
    };
  } finally {
    await database.close();
  }
}
