import { hash } from 'node:crypto';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { auditHash, NO_HASH } from '../../core/model/audit-chain.ts';
import type { JobId } from '../../core/model/ids.ts';
import { DROPPED, type EarlierRow, earlierRows, WITHOUT_ROW } from '../store-rows/earlier-rows.fixture.ts';
import { quoted } from '../store-rows/quoted-name.ts';
import { openPostgresDatabase, type Query } from './database.ts';
import { migratePostgres } from './migrate.ts';
import { POSTGRES_MIGRATION_HASHES } from './migration-hashes.fixture.ts';
import { openSchema, openStore } from './open-stores.fixture.ts';
import { POSTGRES_MIGRATIONS } from './schema/migrations.ts';

const NEWEST = POSTGRES_MIGRATIONS.length;
const EARLIER = Array.from({ length: NEWEST - 1 }, (_, at) => at + 1);
const ENTRY = { at: 5, actor: 'one', action: 'key.create', target: 'k' };

async function open() {
  const schema = await openSchema();
  const database = openPostgresDatabase({ url: schema.url, poolSize: 1 });
  onTestFinished(() => database.close());
  return { schema, database };
}

/** The columns of every table. */
async function tablesOf(query: Query): Promise<Map<string, string[]>> {
  const rows = await query(
    `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2`,
  );
  const byTable = Map.groupBy(rows, (row) => String(row.table_name));
  return new Map([...byTable].map(([table, found]) => [table, found.map((row) => String(row.column_name))]));
}

/** Every row of every table, as `table {columns as JSON}`, which is the same text for the same content. */
async function rowsOf(query: Query, tables: ReadonlyMap<string, readonly string[]>): Promise<string[]> {
  const selects = [...tables].map(([table, columns]) => {
    const list = columns.map((column) => `'${column}', ${quoted(column)}`).join(', ');
    return `SELECT '${table} ' || jsonb_build_object(${list})::text AS row FROM ${quoted(table)}`;
  });
  return (await query(selects.join(' UNION ALL '))).map(({ row }) => String(row));
}

function insertStatement(table: string, columns: readonly string[], row: EarlierRow): string {
  const known = columns.filter((column) => Object.hasOwn(row, column));
  const values = Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value,
  ]);
  const list = known.map(quoted).join(', ');
  const json = pg.escapeLiteral(JSON.stringify(Object.fromEntries(values)));
  return `INSERT INTO ${quoted(table)} (${list}) OVERRIDING SYSTEM VALUE
    SELECT ${list} FROM jsonb_populate_record(NULL::${quoted(table)}, ${json}::jsonb) ON CONFLICT DO NOTHING`;
}

describe('migrations', () => {
  it('that are released are not edited', () => {
    const hashes = POSTGRES_MIGRATIONS.map(({ sql }) => hash('sha256', sql, 'hex').slice(0, 16));
    // A new migration adds its hash there; one that differs was edited, and databases that have it would stay as they are.
    expect(hashes).toEqual(POSTGRES_MIGRATION_HASHES);
  });

  it('have a row for every table in these tests', async () => {
    const { database } = await open();
    await migratePostgres(database);
    const filled = new Set(earlierRows(1).map(([table]) => table));
    const tables = [...(await tablesOf(database.query)).keys()];
    expect(tables.filter((table) => !filled.has(table) && !(table in WITHOUT_ROW))).toEqual([]);
  });

  // One database goes through all schemas, which is a tenth of the work of one for each. Rows that were written under a
  // schema are compared after every later migration.
  it('bring every schema to the newest with every row', async () => {
    const { schema, database } = await open();
    const { query } = database;
    const written: { version: number; tables: Map<string, string[]>; rows: string[] }[] = [];
    let entries = 0;
    for (const version of EARLIER) {
      const migrated = await migratePostgres(database, POSTGRES_MIGRATIONS.slice(0, version));
      expect(migrated).toEqual({ from: version - 1, to: version });
      const tables = await tablesOf(query);
      const rows = earlierRows(version).concat([['audit', { ...ENTRY, details: { version } }]]);
      entries += tables.has('audit') ? 1 : 0;
      const inserts = rows.flatMap(([table, row]) => {
        const columns = tables.get(table);
        return columns === undefined ? [] : [insertStatement(table, columns, row)];
      });
      await query(inserts.join(';\n'));
      written.push({ version, tables, rows: await rowsOf(query, tables) });
    }
    expect(await migratePostgres(database)).toEqual({ from: NEWEST - 1, to: NEWEST });

    const tablesNow = await tablesOf(query);
    for (const { version, tables, rows } of written) {
      const dropped = [...tables.keys()].filter((table) => !tablesNow.has(table));
      expect(dropped.filter((table) => !(table in DROPPED))).toEqual([]);
      const kept = new Map([...tables].filter(([table]) => tablesNow.has(table)));
      const now = new Set(await rowsOf(query, kept));
      const lost = rows.filter((row) => kept.has(tableOf(row)) && !now.has(row) && !isMeantToChange(row));
      expect(lost, `schema ${version}`).toEqual([]);
    }
    const log = await query('SELECT seq, previous_hash, hash, details FROM audit_log ORDER BY seq');
    expect(log).toHaveLength(entries);
    let previous = NO_HASH;
    for (const row of log) {
      expect(row).toMatchObject({ previous_hash: previous });
      previous = auditHash(previous, Number(row.seq), ENTRY, String(row.details));
      expect(row.hash).toBe(previous);
    }

    const store = await openStore(schema.url);
    for (const version of [1, 2, NEWEST - 1]) {
      const id = `job-${version}` as JobId;
      expect(await store.getJob(id)).toMatchObject({ id, kind: 'crawl', status: 'running' });
      expect(await store.findKey(`hash-${version}`)).toMatchObject({ id: `key-${version}` });
      expect((await store.listPages({ jobId: id, limit: 10 })).items).toMatchObject([{ title: 'Título' }]);
    }
  });
});

const tableOf = (row: string): string => row.slice(0, row.indexOf(' '));

/** Rows of the installation itself, which programs and later rows of this test change. */
function isMeantToChange(row: string): boolean {
  const table = tableOf(row);
  const { id } = JSON.parse(row.slice(table.length)) as { id?: unknown };
  return ['audit_head', 'event_log', 'readers'].includes(table) || (table === 'accounts' && id === 'default');
}
