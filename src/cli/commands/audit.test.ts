import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/integration/cli-command.ts';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';

let dir: string;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'scrapifie-audit-'));
  const store = await createSqliteStore({ path: join(dir, 'scrapifie.db') });
  await store.migrate();
  await store.audit(
    [1, 2, 3].map((n) => ({
      at: Date.UTC(2026, 0, n),
      actor: `key-${n}`,
      action: 'key.use',
      target: 'api',
      details: { n },
    })),
  );
  await store.close();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const run = (...args: readonly string[]) => runCommand(['audit', ...args, '--data-dir', dir], { cwd: dir });

/** As an intruder with the file would: the triggers are no obstacle to such a person. */
function tamper(sql: string): void {
  const database = new DatabaseSync(join(dir, 'scrapifie.db'));
  database.exec(`DROP TRIGGER audit_log_no_update; DROP TRIGGER audit_log_no_delete; ${sql}`);
  database.close();
}

describe('scrapifie audit', () => {
  it('lists what is asked for', async () => {
    const { stdout } = await run('list', '--since', '2026-01-02', '--json');
    const actors = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).actor);
    expect(actors).toEqual(['key-3', 'key-2']);
    expect((await run('list', '--actor', 'key-1')).stdout).toContain('2026-01-01T00:00:00.000Z  key.use');
    expect((await run('list', '--since', 'yesterday')).exitCode).toBe(2);
  });

  it('verifies the log, and an export of it', async () => {
    const verified = await run('verify');
    expect(verified.exitCode).toBe(0);
    const head = /3:[0-9a-f]{64}/.exec(verified.stdout)?.[0] ?? '';
    expect(verified.stdout).toBe(`3 entries are right. The last one: ${head}\n`);
    const file = join(dir, 'audit.ndjson');
    expect((await run('export', '--out', file)).exitCode).toBe(0);
    expect((await run('verify', '--file', file, '--expect', head)).stdout).toContain('4 entries are right.');
    writeFileSync(file, readFileSync(file, 'utf8').replace('key-2', 'key-9'));
    const changed = await run('verify', '--file', file);
    expect(changed.exitCode).toBe(5);
    expect(changed.stderr).toContain('AUDIT_LOG_BROKEN');
    expect(changed.stderr).toContain('Entry 2 ');
  });

  it.each([
    [`UPDATE audit_log SET actor = 'key-9' WHERE seq = 2`, 2],
    ['DELETE FROM audit_log WHERE seq = 1', 1],
    ['DELETE FROM audit_log WHERE seq = 3', 3],
  ])('notices %s', async (sql, seq) => {
    tamper(sql);
    const { exitCode, stderr } = await run('verify');
    expect(exitCode).toBe(5);
    expect(stderr).toContain(`Entry ${seq} `);
  });

  it('notices a log that was written anew, when its last entry was kept elsewhere', async () => {
    const { exitCode, stderr } = await run('verify', '--expect', `2:${'ab'.repeat(32)}`);
    expect(exitCode).toBe(5);
    expect(stderr).toContain('Entry 2 ');
  });
});
