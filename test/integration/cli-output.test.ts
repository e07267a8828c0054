import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM } from '../program.ts';
import { type Site, startSite } from '../site/site.ts';
import { readReport, runCommand, temporaryFolder } from './cli-command.ts';

/** Takes no byte, like the file of a shell on a full disk. */
const FULL = '/dev/full';
const folder = temporaryFolder();
let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: 10, log: 'counts' });
});
afterAll(async () => {
  await site.close();
  folder.remove();
});

/** A command whose standard output is a file of its own choice. */
async function runInto(
  file: string,
  args: readonly string[],
): Promise<{ exitCode: number | null; stderr: string }> {
  const output = openSync(file, 'w');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, ...args], {
    cwd: folder.path('.'),
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' },
    stdio: ['ignore', output, 'pipe'],
  });
  closeSync(output);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { exitCode, stderr };
}

const TOLD = /^error DISK_FULL: No space left to write standard output\./m;

it('is no failure when its reader has seen enough', async () => {
  const reader = `"${process.execPath}" "${PROGRAM}" help crawl | true; echo "\${PIPESTATUS[0]}"`;
  const { stdout } = await promisify(execFile)('bash', ['-c', reader]);
  expect(stdout.trim()).toBe('0');
});

it('goes on with a crawl whose progress has no reader any more', async () => {
  const out = folder.path('unread');
  const crawl = `"${process.execPath}" "${PROGRAM}" crawl ${site.url}/big/ --allow-private --rate unlimited --out "${out}"`;
  const piped = `set -o pipefail; ${crawl} 2>&1 >/dev/null | true; echo "\${PIPESTATUS[0]}"`;
  const { stdout } = await promisify(execFile)('bash', ['-c', piped]);
  expect(stdout.trim()).toBe('0');
  expect(readReport(out)).toMatchObject({ status: 'completed', pages: 10 });
});

it('says which scheme it assumed, and follows the links of a host that was named without one', async () => {
  const { host } = new URL(site.url);
  const out = folder.path('schemeless');
  const args = ['crawl', `${host}/big/`, '--allow-private', '--rate', 'unlimited', '--out', out];
  const { exitCode, stderr } = await runCommand(args);
  expect(exitCode).toBe(0);
  expect(stderr).toContain(`${host}/big/ has no scheme; ${site.url}/big/ is fetched.\n`);
  expect(readReport(out)).toMatchObject({ pages: 10 });
});

describe.skipIf(!existsSync(FULL))('output that cannot be written', { timeout: 90_000 }, () => {
  it('fails scrape, map and crawl, although everything was fetched', async () => {
    const page = `${site.url}/big/`;
    const out = folder.path(`crawled-${randomUUID()}`);
    for (const args of [
      ['scrape', page, '--allow-private'],
      ['map', page, '--allow-private'],
      ['crawl', page, '--allow-private', '--out', out, '--json', '--max-depth', '0', '--sitemap', 'skip'],
    ]) {
      const { exitCode, stderr } = await runInto(FULL, args);
      expect([args[0], exitCode]).toEqual([args[0], 5]);
      expect(stderr).toMatch(TOLD);
      expect(stderr.match(/^error /gm)).toHaveLength(1);
    }
    expect(readReport(out)).toMatchObject({ pages: 1, status: 'completed' });
    const { jobId } = readReport(out);
    for (const args of [
      ['jobs', 'list', '--data-dir', out],
      ['export', String(jobId), '--data-dir', out],
      ['audit', 'export', '--data-dir', out],
    ]) {
      const { exitCode, stderr } = await runInto(FULL, args);
      expect([args[0], exitCode]).toEqual([args[0], 5]);
      expect(stderr).toMatch(TOLD);
      expect(stderr.match(/^error /gm)).toHaveLength(1);
    }
  });

  it('fails help and version, too', async () => {
    for (const args of [['--help'], ['--version'], ['crawl', '--help']]) {
      expect((await runInto(FULL, args)).exitCode).toBe(5);
    }
  });

  it('revokes a key whose secret was not shown, and says so', async () => {
    const at = ['--data-dir', folder.path('keys')];
    const { exitCode, stderr } = await runInto(FULL, ['keys', 'create', 'unseen', ...at]);
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(
      /^error DISK_FULL: .*The secret was not shown, so that the key \S+ is revoked again\.$/m,
    );
    const listed = await runCommand(['keys', 'list', '--json', ...at]);
    expect(JSON.parse(listed.stdout)).toMatchObject({ name: 'unseen', revokedAt: expect.any(String) });
  });
});
