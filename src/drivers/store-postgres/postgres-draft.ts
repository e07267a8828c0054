import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { SchemaVersions, StoreDraft } from '../../core/ports/store-copy.ts';
import { quoted } from '../store-rows/copied-tables.ts';
import {
  mappingOf,
  type PostgresTable,
  parameterOf,
  postgresReferences,
  postgresRows,
  postgresTables,
} from './copied-tables.ts';
import { openPostgresDatabase, type Query } from './database.ts';
import { migratePostgres } from './migrate.ts';
import { COPY_NAME, openCopySession, requireNoServers } from './postgres-snapshot.ts';
import { POSTGRES_MIGRATIONS } from './schema/migrations.ts';

/**
 * One transaction on a connection of its own, in a database that has the schema of the rows and nothing else: a process
 * that dies leaves nothing of it. `seeded` has the number of rows that migrations write into a table. References and triggers are away meanwhile, and back with the commit.
 */
export async function openPostgresDraft(
  url: string,
  schema: SchemaVersions,
  seeded: ReadonlyMap<string, number>,
): Promise<StoreDraft> {
  if (schema.postgres > POSTGRES_MIGRATIONS.length) {
    throw new ScrapifieError(
      'SCHEMA_TOO_NEW',
      `The rows have schema ${schema.postgres}, this program knows ${POSTGRES_MIGRATIONS.length}. Upgrade Scrapifie.`,
    );
  }
  await makeSchema(url, schema.postgres);
  const session = await openCopySession(url);
  const { query } = session;
  try {
    await requireNoServers(query);
    await session.begin();
    const tables = await postgresTables(query);
    await query(`LOCK TABLE ${tables.map(({ name }) => quoted(name)).join(', ')} IN ACCESS EXCLUSIVE MODE`);
    for (const { name } of tables) await requireEmpty(query, name, seeded.get(name) ?? 0);
    for (const { name } of tables) await query(`ALTER TABLE ${quoted(name)} DISABLE TRIGGER USER`);
    const references = await dropReferences(query);
    // What the migrations have written comes again with the rows.
    for (const { name } of tables) await query(`DELETE FROM ${quoted(name)}`);
    const tableOf = (name: string): PostgresTable => {
      const table = tables.find((each) => each.name === name);
      if (table === undefined) throw damaged(`this program has no table ${name}`);
      return table;
    };
    return {
      tables,
      async add(name, columns, rows) {
        const table = tableOf(name);
        const mappings = columns.map((column) => {
          const mapping = mappingOf(table, column);
          if (mapping === null) throw damaged(`the table ${name} of this program has no column ${column}`);
          return { ...mapping, type: table.types.get(column) ?? '' };
        });
        const isRight = rows.every(
          (row) =>
            row.length === columns.length &&
            row.every((value, at) => value === null || mappings[at]?.isRight(value) === true),
        );
        if (!isRight) throw damaged(`a row of ${name} has a value of a wrong type`);
        const values = mappings.map(({ type }, at) =>
          rows.map((row) => parameterOf(row[at], type.startsWith('json') || type.endsWith('[]'))),
        );
        const lists = mappings.map(({ type }, at) => `$${at + 1}::${type === 'bytea' ? 'bytea' : 'text'}[]`);
        const made = mappings.map(({ insert, type }, at) => insert(`c${at}`, type));
        try {
          await query(
            `INSERT INTO ${quoted(name)} (${columns.map(quoted).join(', ')}) OVERRIDING SYSTEM VALUE SELECT ${made.join(', ')}
             FROM unnest(${lists.join(', ')}) AS v (${columns.map((_, at) => `c${at}`).join(', ')})`,
            values,
          );
        } catch (error) {
          if ((error as { code?: string }).code !== 'UNSTORABLE') throw error;
          throw damaged(`a row of ${name} is against the rules of the table`, error);
        }
      },
      rows: (name) => postgresRows(query, tableOf(name)),
      references: () => postgresReferences(query),
      async publish(lastNumbers) {
        for (const table of tables) await continueNumbers(query, table, lastNumbers.get(table.name) ?? 0);
        for (const { table, name, definition } of references) {
          try {
            await query(`ALTER TABLE ${quoted(table)} ADD CONSTRAINT ${quoted(name)} ${definition}`);
          } catch (error) {
            if ((error as { code?: string }).code !== 'UNSTORABLE') throw error;
            throw damaged(`a row of ${table} refers to a row that is missing (${name})`, error);
          }
        }
        for (const { name } of tables) await query(`ALTER TABLE ${quoted(name)} ENABLE TRIGGER USER`);
        // A new incarnation that begins now: hosts wait for the leases that workers of the former store may still hold.
        // With it begins a new era of events.
        await query('SELECT current_incarnation()');
        await query(
          'UPDATE incarnation SET id = gen_random_uuid(), registered_by = pg_current_xact_id()::xid, since = clock_ms()',
        );
        await query('COMMIT');
        await session.close();
        await migrate(url, POSTGRES_MIGRATIONS.length);
      },
      discard: () => session.close(),
    };
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Throws PLACE_NOT_EMPTY for a database that has tables of another kind or another version of the schema. */
async function makeSchema(url: string, version: number): Promise<void> {
  const session = await openCopySession(url);
  try {
    const [found] = await session.query(
      `SELECT count(*) AS tables, count(*) FILTER (WHERE relname = 'schema_versions') AS versions FROM pg_class
       WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm')`,
    );
    if (Number(found?.tables) > 0 && Number(found?.versions) === 0)
      throw notEmpty('it has tables of another program');
    if (Number(found?.versions) > 0) {
      const [row] = await session.query('SELECT coalesce(max(version), 0) AS version FROM schema_versions');
      if (Number(row?.version) > version) throw notEmpty('its tables are newer than the rows to restore');
    }
  } finally {
    await session.close();
  }
  await migrate(url, version);
}

async function migrate(url: string, version: number): Promise<void> {
  const database = openPostgresDatabase({ url, poolSize: 1, applicationName: COPY_NAME });
  try {
    await migratePostgres(database, POSTGRES_MIGRATIONS.slice(0, version));
  } finally {
    await database.close();
  }
}

/** Before an installation is copied: the same migrations that a server makes when it starts. */
export const bringUpToDate = (url: string): Promise<void> => migrate(url, POSTGRES_MIGRATIONS.length);

async function requireEmpty(query: Query, table: string, most: number): Promise<void> {
  const [row] = await query(
    `SELECT count(*) AS rows FROM (SELECT 1 FROM ${quoted(table)} LIMIT ${most + 1}) AS first_rows`,
  );
  if (Number(row?.rows) > most) throw notEmpty(`its table ${table} has rows`);
}

interface Reference {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

/** Checked all at once when they come back, which takes less than one by one and needs no order of the rows. */
async function dropReferences(query: Query): Promise<readonly Reference[]> {
  const rows = await query(
    `SELECT c.relname AS table_name, k.conname AS name, pg_get_constraintdef(k.oid) AS definition
     FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
     WHERE k.contype = 'f' AND k.connamespace = current_schema()::regnamespace AND k.conparentid = 0`,
  );
  const references = rows.map((row) => ({
    table: String(row.table_name),
    name: String(row.name),
    definition: String(row.definition),
  }));
  for (const { table, name } of references) {
    await query(`ALTER TABLE ${quoted(table)} DROP CONSTRAINT ${quoted(name)}`);
  }
  return references;
}

async function continueNumbers(query: Query, { name, numbered }: PostgresTable, last: number): Promise<void> {
  if (numbered === null) return;
  await query(
    `SELECT setval(pg_get_serial_sequence($1, $2), greatest(largest, $3, 1), greatest(largest, $3) > 0)
     FROM (SELECT coalesce(max(${quoted(numbered)}), 0) AS largest FROM ${quoted(name)}) AS rows`,
    [quoted(name), numbered, last],
  );
}

const notEmpty = (why: string): ScrapifieError =>
  new ScrapifieError('PLACE_NOT_EMPTY', `The database is not empty: ${why}. Name an empty database.`);

const damaged = (why: string, cause?: unknown): ScrapifieError =>
  new ScrapifieError('BACKUP_DAMAGED', `The rows cannot be restored: ${why}.`, { cause });
