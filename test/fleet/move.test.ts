import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BackupReport, Installation } from '../../src/capabilities/backup/installation.ts';
import { settingsSchema } from '../../src/core/config/settings.ts';
import { createBlobsS3 } from '../../src/drivers/blobs-s3/blobs-s3.ts';
import { postgresTables } from '../../src/drivers/store-postgres/copied-tables.ts';
import { bringUpToDate } from '../../src/drivers/store-postgres/postgres-draft.ts';
import { openCopySession } from '../../src/drivers/store-postgres/postgres-snapshot.ts';
import { createPostgresStore } from '../../src/drivers/store-postgres/postgres-store.ts';
import {
  DERIVED_COLUMNS,
  DERIVED_SEQUENCES,
  DERIVED_TABLES,
} from '../../src/drivers/store-rows/copied-tables.ts';
import { BACKUP_TOOLS } from '../../src/wiring/backups.ts';
import { openStore } from '../../src/wiring/storage.ts';
import { endCommands, runCommand, startCommand } from '../integration/cli-command.ts';
import { type FleetPlace, takeFleetPlace } from '../integration/fleet-place.ts';
import { openWorld } from '../integration/world.ts';

const { moveInstallation } = BACKUP_TOOLS;
const LIMIT_MS = 180_000;
const defaults = settingsSchema.parse({});
const nothing = () => undefined;

let folder: string;
let place: FleetPlace;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scrapifie-move-'));
  place = (await takeFleetPlace()) as FleetPlace;
});
afterEach(async () => {
  await place.remove();
  await rm(folder, { recursive: true, force: true });
}, LIMIT_MS);

afterAll(endCommands);

const inFolder = (name: string): Installation => ({ ...defaults, dataDir: join(folder, name) });
const onServers = (): Installation => ({ ...defaults, ...place.settings, dataDir: join(folder, 'unused') });

/** Without what a move itself writes: an entry in the audit log, and the beginning of an era of events. */
function lasting({ tables }: BackupReport) {
  const { audit_log: _, audit_head: __, event_log: ___, ...others } = tables;
  return others;
}

/** The first row of the answer of the database on the servers. */
async function ask(sql: string): Promise<Record<string, unknown> | undefined> {
  const client = new Client({ connectionString: String(place.settings.databaseUrl) });
  await client.connect();
  try {
    return (await client.query(sql)).rows[0];
  } finally {
    await client.end();
  }
}

/** A database with the tables that a server makes. */
const newDatabase = (name: string) =>
  openStore(inFolder(name), nothing, Date.now).then((store) => store.close());

async function typesOnServer(): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const session = await openCopySession(String(place.settings.databaseUrl));
  try {
    return new Map((await postgresTables(session.query)).map(({ name, types }) => [name, types]));
  } finally {
    await session.close();
  }
}

/**
 * One row in each table. Values of a kind are equal everywhere, so every reference leads to a row; the hash in JSON
 * is that of a screenshot.
 */
const VALUES: Readonly<Record<string, string | number | Uint8Array>> = {
  text: 'default',
  bigint: 1,
  integer: 1,
  smallint: 1,
  boolean: 1,
  'double precision': 0.25,
  numeric: 0.25,
  jsonb: `{"b":[1,2.5,"\\u0000é"],"a":{"zz":null,"y":true},"contentHash":"${'0d'.repeat(32)}"}`,
  json: '{"b":1}',
  bytea: Uint8Array.of(0, 1, 255),
  uuid: '0b0e7d5e-93b0-4bb6-a1cc-5ba4a7b8a1f5',
  'timestamp with time zone': 1_767_225_600_123,
};

function fillTables(path: string, types: ReadonlyMap<string, ReadonlyMap<string, string>>): void {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA foreign_keys = OFF');
  for (const { name } of database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`).all()) {
    database.exec(`DROP TRIGGER "${name}"`);
  }
  for (const [table, columns] of types) {
    // Only right hashes can be gone on from.
    if (table.startsWith('audit_')) continue;
    const names = [...columns.keys()];
    const values = names.map((name) => VALUES[String(columns.get(name))] ?? '["default"]');
    database.exec(`DELETE FROM "${table}"`);
    const places = names.map(() => '?').join(', ');
    const list = names.map((name) => `"${name}"`).join(', ');
    database.prepare(`INSERT INTO "${table}" (${list}) VALUES (${places})`).run(...values);
  }
  database.close();
}

describe('moving an installation', { timeout: LIMIT_MS }, () => {
  it('brings every table there and back, with the same rows', async () => {
    await newDatabase('first');
    await bringUpToDate(String(place.settings.databaseUrl));
    const types = await typesOnServer();
    fillTables(join(folder, 'first', 'scrapifie.db'), types);
    const there = await moveInstallation(inFolder('first'), onServers());
    expect(Object.keys(there.tables).sort()).toEqual([...types.keys()].sort());
    for (const [name, { rows }] of Object.entries(lasting(there))) expect([name, rows]).toEqual([name, 1]);
    const back = await moveInstallation(onServers(), inFolder('second'));
    expect(lasting(back)).toEqual(lasting(there));
    // With its triggers, and numbers that go on.
    await newDatabase('second');
    const database = new DatabaseSync(join(folder, 'second', 'scrapifie.db'));
    expect(() => database.exec('DELETE FROM audit_log')).toThrow('append-only');
    database.close();
  });

  it('has every page and body afterwards, and goes on with the next number', async () => {
    const world = await openWorld({ site: { pages: 40 }, settings: { vaultKey: undefined } });
    await world.crawlNow({ urls: [`${world.site.hostUrl(1)}/big/`], sitemap: 'skip', maxDepth: 10 });
    const source = { ...world.platform.settings };
    await expect(moveInstallation(source, inFolder('refused'))).rejects.toMatchObject({
      code: 'STORE_IN_USE',
    });
    await world.platform.close();
    const there = await moveInstallation(source, inFolder('moved'));
    expect(there.bodies).toMatchObject({ absent: 0 });
    expect(there.bodies.count).toBeGreaterThanOrEqual(40);
    const back = await moveInstallation(inFolder('moved'), onServers());
    expect(lasting(back)).toEqual(lasting(there));
    expect(back.bodies).toEqual(there.bodies);
    const store = await createPostgresStore({ url: String(place.settings.databaseUrl), poolSize: 1 });
    const account = await store.defaultAccount();
    const { items } = await store.listJobs({ accountId: account, limit: 10 });
    expect(items.map(({ counters }) => counters.pages)).toEqual([40]);
    await store.close();
    const client = new Client({ connectionString: String(place.settings.databaseUrl) });
    await client.connect();
    const { rows } = await client.query(
      `SELECT nextval(pg_get_serial_sequence('pages', 'seq'))::int AS next, (SELECT max(seq)::int FROM pages) AS last`,
    );
    expect(rows[0].next).toBeGreaterThan(rows[0].last);
    await client.end();
    await world.close();
  });

  it('that is killed while it copies goes on, and brings the same', async () => {
    const world = await openWorld({ site: { pages: 40 }, settings: { vaultKey: undefined } });
    await world.crawlNow({ urls: [`${world.site.hostUrl(1)}/big/`], sitemap: 'skip', maxDepth: 10 });
    const source = { ...world.platform.settings };
    await world.platform.close();
    const first = await moveInstallation(source, inFolder('first'));
    const { databaseUrl, s3Url } = onServers();
    const args = [
      'move',
      '--data-dir',
      join(folder, 'first'),
      '--to',
      String(databaseUrl),
      '--s3',
      String(s3Url),
    ];
    const bodies = await createBlobsS3({ url: String(s3Url), now: Date.now, random: Math.random });
    const hasBodies = async () => !(await bodies.list()[Symbol.asyncIterator]().next()).done;
    const isWriting = async () =>
      (await ask(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name =
        'scrapifie-copy' AND state LIKE 'idle in transaction%'`)) !== undefined;
    /** Tables and rows come in one transaction, so there may be no table yet. */
    const countPages = async () => {
      if ((await ask(`SELECT 1 WHERE to_regclass('pages') IS NOT NULL`)) === undefined) return 0;
      return Number((await ask('SELECT count(*) AS n FROM pages'))?.n);
    };
    let kills = 0;
    for (const isTime of [hasBodies, isWriting]) {
      const command = startCommand(args);
      let hasEnded = false;
      void command.ended.then(() => {
        hasEnded = true;
      });
      await vi.waitFor(async () => expect(hasEnded || (await isTime())).toBe(true), {
        timeout: 60_000,
        interval: 5,
      });
      if (!hasEnded) kills += 1;
      command.child.kill('SIGKILL');
      await command.ended;
      // Nothing can be seen before everything can.
      expect([0, first.tables.pages?.rows]).toContain(await countPages());
    }
    expect(kills).toBeGreaterThan(0);
    if ((await countPages()) === 0) {
      expect((await runCommand(args)).stderr).toBe('');
    }
    const back = await moveInstallation(onServers(), inFolder('back'));
    expect(lasting(back)).toEqual(lasting(first));
    expect(back.bodies).toEqual(first.bodies);
    await bodies.close();
    await world.close();
  });

  it('is refused where the place is not empty, and leaves it alone', async () => {
    await newDatabase('first');
    await newDatabase('other');
    await expect(moveInstallation(inFolder('first'), inFolder('other'))).rejects.toMatchObject({
      code: 'PLACE_NOT_EMPTY',
    });
    await moveInstallation(inFolder('first'), onServers());
    // An audit entry, or a body, is enough.
    await expect(moveInstallation(inFolder('first'), onServers())).rejects.toMatchObject({
      code: 'PLACE_NOT_EMPTY',
    });
    // The folder for the bodies of a database that is refused is not left behind.
    const { databaseUrl } = place.settings;
    const mixed = { ...inFolder('mixed'), databaseUrl };
    await expect(moveInstallation(inFolder('first'), mixed)).rejects.toMatchObject({
      code: 'PLACE_NOT_EMPTY',
    });
    expect(existsSync(mixed.dataDir)).toBe(false);
  });
});

describe('the schemas of both stores', () => {
  it('have the same tables and columns, but for those that a copy leaves out and says why', async () => {
    await newDatabase('first');
    const url = String(place.settings.databaseUrl);
    await bringUpToDate(url);
    const database = new DatabaseSync(join(folder, 'first', 'scrapifie.db'));
    const embedded = database
      .prepare(
        `SELECT m.name || '.' || c.name AS name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
         WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
      )
      .all()
      .map(({ name }) => String(name));
    database.close();
    const client = new Client({ connectionString: url });
    await client.connect();
    const shared = (
      await client.query(
        `SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = 'public'`,
      )
    ).rows.map(({ name }) => String(name));
    const sequences = (
      await client.query(
        `SELECT c.relname AS name FROM pg_class c WHERE c.relkind = 'S' AND NOT EXISTS (
           SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'i')`,
      )
    ).rows.map(({ name }) => String(name));
    await client.end();
    const isCopied = (name: string) =>
      !Object.hasOwn(DERIVED_TABLES, name.slice(0, name.indexOf('.'))) &&
      !Object.hasOwn(DERIVED_COLUMNS, name);
    expect(embedded.filter(isCopied).sort()).toEqual(shared.filter(isCopied).sort());
    // Nothing is left out that is not there.
    const tables = new Set([...embedded, ...shared].map((name) => name.slice(0, name.indexOf('.'))));
    expect(Object.keys(DERIVED_TABLES).filter((name) => !tables.has(name))).toEqual([]);
    expect(sequences.filter((name) => !Object.hasOwn(DERIVED_SEQUENCES, name))).toEqual([]);
  });
});
