import { execFile, execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { childEnvironment } from '../../core/config/search-environment.ts';
import { EXECUTABLE } from '../browser/browser.fixture.ts';
import { confine, dividePlaces, isRoot, namespacePrefix, refusalOf } from './confinement.ts';

const options = {
  executablePath: EXECUTABLE,
  env: childEnvironment(),
  secretPlaces: [],
  programFolder: fileURLToPath(new URL('../../..', import.meta.url)),
};

test('a server of root without another user has no confinement, and says what to do', async () => {
  const confinement = await confine({ ...options, isRoot: true, passwd: 'root:x:0:0::/:' });
  expect(confinement).toMatchObject({
    user: null,
    isSandboxed: false,
    weaknesses: [
      {
        what: 'browsers would run as root, because there is no user for them',
        remedy: expect.stringMatching(/^make one/),
        isGrave: true,
      },
    ],
  });
  const refusal = refusalOf(confinement);
  expect(refusal).toMatchObject({ code: 'BROWSER_UNCONFINED', spec: { exitCode: 5 } });
  expect(refusal?.message).toContain('useradd --system scrapifie');
  expect(refusal?.message).toContain('SCRAPIFIE_UNCONFINED_BROWSERS=true');
});

test.runIf(isRoot())('a browser that the other user cannot run is named, and needs consent', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-closed-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const executablePath = join(folder, 'chromium');
  await copyFile(process.execPath, executablePath);
  await chmod(executablePath, 0o755);
  const confinement = await confine({ ...options, executablePath, isRoot: true });
  expect(confinement.user).toBeNull();
  expect(refusalOf(confinement)?.message).toContain(`cannot use ${executablePath}`);
});

test.runIf(isRoot())('a user made for it goes before the one that every system has', async () => {
  const passwd = 'nobody:x:65534:65534::/:\nscrapifie:x:64999:64999::/:\n';
  const { user } = await confine({ ...options, isRoot: true, executablePath: null, passwd });
  expect(user).toEqual({ name: 'scrapifie', uid: 64_999, gid: 64_999 });
});

test.runIf(isRoot())('the folder for temporary files may be closed to others', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-private-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  onTestFinished(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const confinement = await confine({ ...options, isRoot: true });
  expect(confinement.user).not.toBeNull();
  expect(refusalOf(confinement)).toBeNull();
});

test('a server of another user needs no other user', async () => {
  const { user } = await confine({ ...options, isRoot: false, executablePath: null });
  expect(user).toBeNull();
});

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
