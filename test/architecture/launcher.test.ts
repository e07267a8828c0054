import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const project = fileURLToPath(new URL('../..', import.meta.url));

let folder: string;
let root: string;
/** Tools of the system, and a `node` and an `npm` of the test's choosing before them. */
let bin: string;
let path: string;

/** Stands for an install: counts itself, waits at the gate when there is one, and leaves what npm leaves. */
const NPM = `#!/bin/sh
echo npm "$@" >>"$COUNT"
if [ -n "$GATE" ]; then read -r _ <"$GATE"; fi
for folder in "$@"; do
  [ -d "$folder" ] && mkdir -p "$folder/node_modules" && : >"$folder/node_modules/.package-lock.json"
done
exit 0
`;
const MAIN = `
const [command, value] = process.argv.slice(2);
if (command === 'exit') process.exit(Number(value));
if (command === 'wait') {
  process.on('SIGTERM', () => process.exit(7));
  setInterval(() => {}, 1000);
}
console.log(JSON.stringify(process.argv.slice(2)));
`;

function executable(file: string, text: string): void {
  writeFileSync(file, text);
  chmodSync(file, 0o755);
}

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'scrapifie launcher-')));
  root = join(folder, 'the clone');
  bin = join(folder, 'bin');
  path = `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`;
  for (const each of [join(root, 'src'), bin]) mkdirSync(each, { recursive: true });
  for (const each of ['scrapifie', 'scripts'])
    cpSync(join(project, each), join(root, each), { recursive: true });
  writeFileSync(join(root, 'src/main.ts'), MAIN);
  writeFileSync(join(root, 'package-lock.json'), '{}');
  executable(join(bin, 'npm'), NPM);
});
afterEach(() => rmSync(folder, { recursive: true }));

const environment = () => ({ PATH: path, COUNT: join(folder, 'count') });
const start = (file: string, ...args: string[]) =>
  spawnSync(file, args, { cwd: folder, env: environment(), encoding: 'utf8' });
const installs = (): string[] =>
  existsSync(join(folder, 'count')) ? readFileSync(join(folder, 'count'), 'utf8').trim().split('\n') : [];

describe('./scrapifie in a clone', () => {
  it('installs on first use, says so on standard error only, and passes arguments on', () => {
    const first = start(join(root, 'scrapifie'), 'a', 'b c', '$d', '');
    expect(JSON.parse(first.stdout)).toEqual(['a', 'b c', '$d', '']);
    expect(first.stderr).toBe('scrapifie: installing packages (once)\n');
    const second = start(join(root, 'scrapifie'));
    expect(second.stderr).toBe('');
    expect(installs()).toHaveLength(1);
  });

  it('installs again when the lock file has changed', () => {
    start(join(root, 'scrapifie'));
    const later = Date.now() / 1_000 + 60;
    utimesSync(join(root, 'package-lock.json'), later, later);
    start(join(root, 'scrapifie'));
    expect(installs()).toHaveLength(2);
  });

  it('works through links, relative ones and links to links', () => {
    mkdirSync(join(folder, 'links'));
    symlinkSync('../the clone/scrapifie', join(folder, 'links/one'));
    symlinkSync('one', join(folder, 'links/two'));
    expect(start(join(folder, 'links/two'), 'x').stdout).toBe('["x"]\n');
  });

  it('ends with the exit code of the program', () => {
    expect(start(join(root, 'scrapifie'), 'exit', '3').status).toBe(3);
  });

  it('is replaced by the program, so that signals reach it', async () => {
    start(join(root, 'scrapifie'));
    const child = spawn(join(root, 'scrapifie'), ['wait'], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  it('installs once when several start at once', async () => {
    const gate = join(folder, 'gate');
    spawnSync('mkfifo', [gate]);
    const children = ['a', 'b', 'c'].map(() =>
      spawn(join(root, 'scrapifie'), ['exit', '0'], {
        env: { ...environment(), GATE: gate },
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    );
    const exits = children.map((child) => once(child, 'exit'));
    const said = await Promise.all(
      children.map(async ({ stderr }) => String((await once(stderr, 'data'))[0])),
    );
    expect(said.filter((text) => text.includes('another process is installing'))).toHaveLength(2);
    writeFileSync(gate, 'open\n');
    const ends = await Promise.all(exits);
    expect(ends).toEqual([
      [0, null],
      [0, null],
      [0, null],
    ]);
    expect(installs()).toHaveLength(1);
  });

  it('takes over from an install that was killed', () => {
    const gone = spawnSync('true').pid;
    mkdirSync(join(root, '.tools/installing'), { recursive: true });
    writeFileSync(join(root, '.tools/installing/pid'), `${gone}\n`);
    expect(start(join(root, 'scrapifie'), 'exit', '0').status).toBe(0);
    expect(existsSync(join(root, '.tools/installing'))).toBe(false);
  });

  it('says what is wrong when npm fails, and leaves no lock behind', () => {
    executable(join(bin, 'npm'), '#!/bin/sh\necho "npm error code ENOTFOUND" >&2\nexit 1\n');
    const { status, stderr, stdout } = start(join(root, 'scrapifie'));
    expect({ status, stdout }).toEqual({ status: 5, stdout: '' });
    expect(stderr).toContain('the npm registry cannot be reached');
    expect(existsSync(join(root, '.tools/installing'))).toBe(false);
  });

  it('gets a Node.js of its own where the installed one is too old', () => {
    executable(join(bin, 'node'), '#!/bin/sh\necho v20.1.0\n');
    executable(
      join(bin, 'npm'),
      `${NPM.replace('exit 0', '')}
       case "$*" in *.tools\\ *) mkdir -p "$3/node_modules/.bin"
         ln -s '${process.execPath}' "$3/node_modules/.bin/node" ;; esac`,
    );
    expect(start(join(root, 'scrapifie'), 'x').stdout).toBe('["x"]\n');
    expect(installs()).toEqual([
      expect.stringMatching(/^npm ci --prefix .*\.tools --ignore-scripts/),
      expect.stringMatching(/^npm ci .*--ignore-scripts/),
    ]);
    const lock = JSON.parse(readFileSync(join(root, '.tools/package-lock.json'), 'utf8'));
    const [entry] = Object.entries<Record<string, string>>(lock.packages).flatMap(([path, each]) =>
      path === '' ? [] : [each],
    );
    expect(entry?.version).toMatch(/^24\.\d+\.\d+$/);
    expect(entry?.integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
    expect(start(join(root, 'scrapifie'), 'y').stderr).toBe('');
  });
});

describe('the command of the npm package', () => {
  beforeEach(() => {
    rmSync(join(root, 'src'), { recursive: true });
    mkdirSync(join(root, 'dist'));
    writeFileSync(join(root, 'dist/main.js'), MAIN);
  });

  it('runs the compiled program and installs nothing', () => {
    expect(start(join(root, 'scrapifie'), 'x').stdout).toBe('["x"]\n');
    expect(installs()).toEqual([]);
  });

  it('names the version it needs when Node.js is too old', () => {
    executable(join(bin, 'node'), '#!/bin/sh\necho v20.1.0\n');
    const { status, stderr } = start(join(root, 'scrapifie'));
    expect(status).toBe(5);
    expect(stderr).toContain('needs Node.js 24 or newer on PATH; found v20.1.0');
  });

  it('says that it was packed without being built', () => {
    rmSync(join(root, 'dist'), { recursive: true });
    const { status, stderr } = start(join(root, 'scrapifie'));
    expect(status).toBe(5);
    expect(stderr).toContain(`the compiled program: ${join(root, 'dist/main.js')} is missing`);
    expect(stderr).toContain('make package');
    expect(installs()).toEqual([]);
  });
});
