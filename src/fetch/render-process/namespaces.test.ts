import { execFile, execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isRoot } from './confinement.ts';
import { dividePlaces, namespacePrefix } from './namespaces.ts';

const run = promisify(execFile);
const UID = 64_999;
/** A server that root has started needs no namespaces, so that root tries them as another user. */
const AS_USER = isRoot() ? ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups'] : [];

function whyNot(): string | null {
  if (process.platform !== 'linux') return 'namespaces are a part of Linux';
  const [command = '', ...args] = [...AS_USER, ...namespacePrefix([]), 'true'];
  try {
    execFileSync(command, args, { stdio: 'pipe' });
    return null;
  } catch {
    return 'this machine lets users make no namespaces';
  }
}
const why = whyNot();
if (why !== null) console.log(`namespaces of render processes are NOT RUN: ${why}`);

/** A folder of the server's user, with a secret in it and a file beside it. */
function makeSecrets() {
  const folder = mkdtempSync(join(tmpdir(), 'scrapifie-secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [data, file] = [join(folder, 'data'), join(folder, '.env')];
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(join(data, 'vault.key'), 'a-secret', { mode: 0o600 });
  writeFileSync(file, 'A=a-secret', { mode: 0o600 });
  if (isRoot()) for (const path of [folder, data, file, join(data, 'vault.key')]) chownSync(path, UID, UID);
  return { data, file };
}

describe.skipIf(why !== null)('a process in namespaces of its own', () => {
  const inside = async (script: string, places: readonly string[], ...values: string[]) => {
    const [command = '', ...args] = [
      ...AS_USER,
      ...namespacePrefix(places),
      'sh',
      '-c',
      script,
      'sh',
      ...values,
    ];
    const { stdout } = await run(command, args, { env: { PATH: process.env.PATH } });
    return stdout.trim();
  };

  it('sees nothing of what is covered, and keeps its user, without any capability', async () => {
    const { data, file } = makeSecrets();
    const look =
      'ls -A "$1"; cat "$2"; touch "$1/new" 2>/dev/null || echo closed; id -u; grep -E "^(Cap|NoNew)" /proc/self/status';
    const seen = await inside(look, [data, file], data, file);
    expect(seen.split('\n').slice(0, 2)).toEqual([
      'closed',
      isRoot() ? String(UID) : expect.stringMatching(/^\d+$/),
    ]);
    expect(seen).not.toContain('a-secret');
    expect(seen.match(/^Cap\w+:\s+0+$/gm)).toHaveLength(5);
    expect(seen).toMatch(/^NoNewPrivs:\s+1$/m);
  });

  it('cannot uncover it, whatever namespaces it makes', async () => {
    const { data, file } = makeSecrets();
    const uncover = `for place in "$1" "$2"; do
      umount "$place" 2>/dev/null && echo uncovered
      unshare --user --map-root-user --mount umount "$place" 2>/dev/null && echo uncovered
      unshare --user --map-root-user --mount umount --recursive --lazy / 2>/dev/null && echo uncovered
    done
    cat "$1/vault.key" "$2" 2>/dev/null; echo end`;
    expect(await inside(uncover, [data, file], data, file)).toBe('end');
  });

  it('is shown neither memory nor environment of the processes of its user outside', async () => {
    const { data } = makeSecrets();
    const [command = '', ...args] = [...AS_USER, 'sh', '-c', 'echo ready; cat'];
    const server = execFile(command, args, { env: { PATH: process.env.PATH, VAULT_KEY: 'a-secret' } });
    onTestFinished(() => void server.kill('SIGKILL'));
    await new Promise((resolve) => server.stdout?.once('data', resolve));
    const read = (before: readonly string[]) => {
      const [program = '', ...rest] = [...AS_USER, ...before, 'cat', `/proc/${server.pid}/environ`];
      return run(program, rest);
    };
    expect((await read([])).stdout).toContain('a-secret');
    await expect(read(namespacePrefix([data]))).rejects.toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('Permission denied'),
    });
  });

  it('can make namespaces, as the sandbox of Chromium does', async () => {
    expect(await inside('unshare --user --map-root-user --pid --net --fork id -u', [])).toBe('0');
  });
});

it('a place that holds what the command needs is not covered', () => {
  expect(
    dividePlaces(['/home/ann', '/home/ann/app/data', '/run/secrets'], ['/home/ann/app', '/usr/bin/node']),
  ).toEqual({
    covered: ['/home/ann/app/data', '/run/secrets'],
    needed: ['/home/ann'],
  });
});
