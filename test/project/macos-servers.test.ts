import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url));
/** What the script uses of the system; apt-get is not among it. */
const TOOLS = ['sh', 'dirname', 'mkdir', 'cat', 'chmod'];

let folder: string;
const calls = () =>
  existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n') : [];
const program = (name: string, text: string) =>
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
const installServers = () =>
  spawnSync('/bin/sh', [join(folder, 'clone/scripts/servers.sh')], {
    env: { PATH: join(folder, 'bin') },
    encoding: 'utf8',
  });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scrapifie-macos-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'clone/scripts'), { recursive: true });
  for (const file of ['servers.sh', 'node.sh'])
    cpSync(join(SCRIPTS, file), join(folder, 'clone/scripts', file));
  for (const tool of TOOLS)
    symlinkSync(existsSync(`/bin/${tool}`) ? `/bin/${tool}` : `/usr/bin/${tool}`, join(folder, 'bin', tool));
  program('uname', 'echo Darwin');
  program('postgres', 'echo "postgres (PostgreSQL) 17.2"');
  program('initdb', 'exit 0');
});

describe('on macOS, the servers of the tests', () => {
  it('are installed by Homebrew, MinIO in place of Ceph, and only once', () => {
    // A formula brings a program of its name; that of Redis is called otherwise.
    program(
      'brew',
      `echo "$@" >>'${folder}/calls'
       for name in "$@" redis-server; do printf '#!/bin/sh\\n' >'${folder}/bin/'$name; chmod +x '${folder}/bin/'$name; done`,
    );
    expect(installServers()).toMatchObject({ status: 0, stdout: '' });
    expect(installServers()).toMatchObject({ status: 0, stdout: '' });
    expect(calls()).toEqual([expect.stringMatching(/^install --quiet redis minio\b(?!.*ceph)/)]);
  });

  it('that cannot be installed are told, with where to read why', () => {
    program('brew', 'echo "no such formula" >&2; exit 1');
    const { status, stderr } = installServers();
    expect([status, stderr]).toEqual([5, expect.stringContaining('cannot install redis minio')]);
    expect(readFileSync(join(folder, 'clone/.tools/servers.log'), 'utf8')).toContain('no such formula');
  });

  it('are left to the user where there is no Homebrew', () => {
    const { status, stderr } = installServers();
    expect([status, stderr]).toEqual([5, expect.stringContaining('Install them with the package manager')]);
  });
});
