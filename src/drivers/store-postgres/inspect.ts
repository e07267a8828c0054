import type { PostgresFacts } from '../../core/ports/server-facts.ts';
import { NOW, openPostgresDatabase } from './database.ts';
import { readVersion } from './migrate.ts';
import { POSTGRES_MIGRATIONS } from './schema/migrations.ts';

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
