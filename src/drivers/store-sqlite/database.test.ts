import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { openSqliteDatabase, type SqliteDatabase } from './database.ts';
import { SQLITE_MIGRATIONS } from './schema/migrations.ts';
import { createSqliteStore } from './sqlite-store.ts';

const NEWEST = SQLITE_MIGRATIONS.length;

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'scrapifie-database-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function open(path = ':memory:'): SqliteDatabase {
  const database = openSqliteDatabase(path);
  onTestFinished(() => database.close());
  return database;
}

const codeOf = (action: () => unknown): string => {
  try {
    action();
    return 'none';
  } catch (error) {
    return isScrapifieError(error) ? error.code : `not ours: ${String(error)}`;
  }
};
const versionOf = (database: SqliteDatabase) => database.get('PRAGMA user_version')?.user_version;

/** A file of the right kind whose pages were overwritten. */
function damagedFile(): string {
  const path = join(folder(), 'damaged.db');
  const database = new DatabaseSync(path);
  database.exec(
    `CREATE TABLE a (x TEXT); INSERT INTO a SELECT hex(randomblob(500)) FROM json_each('[1,2,3,4,5,6,7,8,9]')`,
  );
  database.close();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xa5, 1_024));
  return path;
}

describe('opening', () => {
  it('makes the file durable: every commit is synced, readers do not wait', () => {
    const database = open(join(folder(), 'new.db'));
    expect(database.get('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
    expect(database.get('PRAGMA synchronous')).toEqual({ synchronous: 2 });
  });

  it('a file that is no database is DATABASE_CORRUPT, and it is left as it was', () => {
    const path = join(folder(), 'garbage.db');
    const garbage = 'This is no database. '.repeat(500);
    writeFileSync(path, garbage);
    expect(codeOf(() => openSqliteDatabase(path))).toBe('DATABASE_CORRUPT');
    expect(readFileSync(path, 'utf8')).toBe(garbage);
  });

  it('a damaged database is DATABASE_CORRUPT, when opened or when read', () => {
    const path = damagedFile();
    expect(codeOf(() => open(path).all('SELECT x FROM a'))).toBe('DATABASE_CORRUPT');
  });

  it('where a folder stands in its place is DATA_DIR_UNUSABLE', () => {
    const path = join(folder(), 'folder.db');
    mkdirSync(path);
    expect(codeOf(() => openSqliteDatabase(path))).toBe('DATA_DIR_UNUSABLE');
  });

  it('where a file stands in place of its folder is DATA_DIR_UNUSABLE', () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    expect(codeOf(() => openSqliteDatabase(join(file, 'scrapifie.db')))).toBe('DATA_DIR_UNUSABLE');
  });

  it('names the path, so that the person who runs this knows which file', () => {
    const path = join(folder(), 'missing', 'scrapifie.db');
    expect(() => openSqliteDatabase(path)).toThrow(path);
  });

  it('fails the same way through the thread of the store', async () => {
    const path = join(folder(), 'garbage.db');
    writeFileSync(path, 'x'.repeat(5_000));
    await expect(createSqliteStore({ path })).rejects.toMatchObject({ code: 'DATABASE_CORRUPT' });
  });
});

describe('running statements', () => {
  it('a full disk is DISK_FULL, and what was there stays', () => {
    const database = open();
    database.exec('CREATE TABLE a (x TEXT); PRAGMA max_page_count = 4');
    const fill = () => {
      for (let n = 0; n < 100; n += 1) database.run('INSERT INTO a VALUES (?)', 'x'.repeat(2_000));
    };
    expect(codeOf(fill)).toBe('DISK_FULL');
    expect(Number(database.get('SELECT count(*) AS n FROM a')?.n)).toBeGreaterThan(0);
  });

  it('a fault of the program is not dressed up as one of the disk', () => {
    const database = open();
    expect(codeOf(() => database.run('SELECT nonsense'))).toMatch(/^not ours/);
  });

  it('counts the rows it changed', () => {
    const database = open();
    database.exec('CREATE TABLE a (x INTEGER)');
    expect(database.run('INSERT INTO a VALUES (?), (?)', 1, 2)).toBe(2);
    expect(database.run('UPDATE a SET x = 3 WHERE x = 1')).toBe(1);
    expect(database.all('SELECT x FROM a ORDER BY x').map(({ x }) => x)).toEqual([2, 3]);
  });
});

describe('the database file', () => {
  const copyAlone = (path: string) => {
    const copy = join(folder(), 'copy.db');
    copyFileSync(path, copy);
    return openSqliteDatabase(copy);
  };

  it('has the schema at once, without its log', async () => {
    const path = join(folder(), 'scrapifie.db');
    const store = await createSqliteStore({ path });
    await store.migrate();
    const copy = copyAlone(path);
    expect(versionOf(copy)).toBe(NEWEST);
    copy.close();
    await store.close();
  });

  it('has what was committed after a while, without its log', async () => {
    const path = join(folder(), 'scrapifie.db');
    const store = await createSqliteStore({ path, checkpointMs: 1 });
    await store.migrate();
    for (const actor of ['one', 'other']) {
      await store.audit([{ at: 1, actor, action: 'key.create', target: 'k', details: {} }]);
      await expect
        .poll(() => {
          const copy = copyAlone(path);
          const found = copy.get('SELECT count(*) AS n FROM audit_log WHERE actor = ?', actor);
          copy.close();
          return found;
        })
        .toEqual({ n: 1 });
    }
    await store.close();
  });

  it.each<[string, (path: string) => void]>([
    ['missing', () => undefined],
    ['empty', (path) => writeFileSync(path, '')],
    [
      'without tables',
      (path) => {
        const empty = new DatabaseSync(path);
        empty.exec('PRAGMA journal_mode = WAL');
        empty.close();
      },
    ],
  ])(
    'that is %s beside other files of an installation is DATABASE_CORRUPT, and they are named',
    (_, make) => {
      const path = join(folder(), 'scrapifie.db');
      make(path);
      const before = existsSync(path) ? readFileSync(path) : null;
      const trace = join(path, '..', 'vault.key');
      expect(codeOf(() => openSqliteDatabase(path, [trace]))).toBe('DATABASE_CORRUPT');
      expect(() => openSqliteDatabase(path, [trace])).toThrow(trace);
      expect(existsSync(path) ? readFileSync(path) : null).toEqual(before);
      expect(codeOf(() => open(path))).toBe('none');
    },
  );

  it('that is empty beside its log is DATABASE_CORRUPT, and the log stays', () => {
    const path = join(folder(), 'scrapifie.db');
    const database = open(path);
    database.exec('CREATE TABLE a (x TEXT)');
    const copy = join(folder(), 'scrapifie.db');
    writeFileSync(copy, '');
    copyFileSync(`${path}-wal`, `${copy}-wal`);
    expect(codeOf(() => openSqliteDatabase(copy))).toBe('DATABASE_CORRUPT');
    expect(readFileSync(`${copy}-wal`)).toEqual(readFileSync(`${path}-wal`));
  });
});
