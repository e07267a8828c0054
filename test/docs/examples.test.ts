import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PYTHON } from '../../sdk/scenarios/languages.ts';
import {
  endCommands,
  originOf,
  type RunningCommand,
  startCommand,
  temporaryFolder,
} from '../integration/cli-command.ts';
import { PROGRAM } from '../program.ts';
import { type CodeBlock, codeBlocks } from './code-blocks.ts';
import { type ExampleSite, startExampleSite } from './example-site.ts';

/**
 * Runs the commands and programs that README, quickstart and guides show. What a reader does by hand is done here too:
 * `https://example.com` and `https://shop.example` become the addresses of a small site on this machine,
 * `http://127.0.0.1:3000` that of a running server, and `YOUR_KEY` its key. The blocks of a page run in one folder, in
 * order, and keep their variables. Two things differ from a reader's machine and are no part of the blocks: addresses of
 * this machine may be fetched, and the rate of hosts is not limited.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FILES = ['README.md', 'docs/quickstart.md', ...globSync('docs/guides/*.md', { cwd: ROOT }).sort()];
/** Languages of blocks that are run; the others show data. */
const RUN = ['sh', 'ts', 'python'];
const KEY = 'key-of-the-documentation-0123456789abcdef';
const LIMIT_MS = 120_000;

const folder = temporaryFolder();
let site: ExampleSite;
let server: RunningCommand;
let serverUrl: string;
const environment: Record<string, string> = {};

beforeAll(async () => {
  site = await startExampleSite();
  mkdirSync(folder.path('bin'), { recursive: true });
  const hosts = Object.values(site.origins).map((origin) => new URL(origin).host);
  const policy = hosts.map((host) => `  "${host}": { rate: unlimited, concurrency: 8 }\n`).join('');
  writeFileSync(folder.path('policy.yaml'), `domains:\n${policy}`);
  const program = folder.path('bin/scrapifie');
  const main = PROGRAM;
  writeFileSync(
    program,
    `#!/bin/sh\nexec '${process.execPath}' --disable-warning=ExperimentalWarning '${main}' "$@"\n`,
  );
  chmodSync(program, 0o755);
  Object.assign(environment, {
    PATH: `${folder.path('bin')}:${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
    HOME: folder.path('home'),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    PYTHONPATH: `${ROOT}sdk/python/src`,
    PYTHONDONTWRITEBYTECODE: '1',
    SCRAPIFIE_ALLOW_PRIVATE: 'true',
    SCRAPIFIE_POLICY_FILE: folder.path('policy.yaml'),
    SCRAPIFIE_LOG_LEVEL: 'error',
  });
  server = startCommand(['serve', '--port', '0'], {
    env: { ...environment, SCRAPIFIE_DATA_DIR: folder.path('server'), SCRAPIFIE_API_KEY: KEY },
  });
  serverUrl = await originOf(server);
});

afterAll(async () => {
  server?.child.kill('SIGTERM');
  await server?.ended;
  await endCommands();
  await site?.close();
  folder.remove();
});

describe.each(FILES)('%s', (file) => {
  const cwd = folder.path(file.replaceAll('/', '-'));
  const home = () => mkdirSync(cwd, { recursive: true });
  let before: Ended | null = null;

  for (const block of codeBlocks(file)) {
    const name = `line ${block.line}: ${block.text.split('\n')[0]}`;
    if (block.isOutput) {
      it(`${name} (shown output)`, () => {
        expect(before?.output).toBeDefined();
        expectShown(block, before?.output ?? '');
      });
    } else if (block.notRun !== null) {
      it.skip(`${name} (${block.notRun})`);
    } else if (RUN.includes(block.language)) {
      it(name, { timeout: LIMIT_MS }, async () => {
        home();
        if (block.meanwhile !== null) {
          const happen = site.happenings[block.meanwhile];
          if (happen === undefined) throw new Error(`nothing is called ${block.meanwhile}`);
          happen();
        }
        before = await run(block, cwd);
        expect(before.exitCode, `${before.output}\n${before.errors}`).toBe(block.exitCode);
      });
    } else if (block.language === 'yaml' || block.language === 'json') {
      // A file that the next blocks use, when its first line names it: `# rules.yaml`.
      const [, fileName] = /^# (\S+\.\w+)$/m.exec(block.text.split('\n')[0] ?? '') ?? [];
      it(`${name} (${fileName === undefined ? 'is well-formed' : `is written to ${fileName}`})`, () => {
        home();
        if (block.language === 'json') expect(() => JSON.parse(block.text)).not.toThrow();
        if (fileName !== undefined) writeFileSync(`${cwd}/${fileName}`, substituted(block.text));
      });
    }
  }
});

interface Ended {
  readonly output: string;
  readonly errors: string;
  readonly exitCode: number | null;
}

/** The addresses of this test in place of those of the documentation. */
function substituted(text: string): string {
  let changed = text.replaceAll('http://127.0.0.1:3000', serverUrl).replaceAll('YOUR_KEY', KEY);
  for (const [name, origin] of Object.entries(site.origins)) {
    changed = changed.replaceAll(`https://${name}`, origin).replaceAll(name, new URL(origin).host);
  }
  const module = (path: string) => JSON.stringify(`${ROOT}${path}`);
  return changed
    .replaceAll('./scrapifie ', 'scrapifie ')
    .replaceAll("'@scrapifie/client'", module('sdk/typescript/src/index.ts'))
    .replaceAll("from 'scrapifie'", `from ${module('src/library/index.ts')}`);
}

/** Variables of a block are kept in a file, so that the next block of the page has them. */
async function run(block: CodeBlock, cwd: string): Promise<Ended> {
  const text = substituted(block.text);
  if (block.language === 'ts') {
    writeFileSync(`${cwd}/package.json`, '{"type": "module"}');
    writeFileSync(`${cwd}/main.ts`, text);
    return start('. ./.variables; exec node main.ts', cwd);
  }
  if (block.language === 'python') {
    writeFileSync(`${cwd}/main.py`, text);
    return start(`. ./.variables; exec '${PYTHON}' main.py`, cwd);
  }
  return start(`set -ea; . ./.variables; trap 'export -p > .variables' EXIT\n${text}\n`, cwd);
}

async function start(script: string, cwd: string): Promise<Ended> {
  const touched = `touch .variables\n${script}`;
  const child = spawn('sh', ['-c', touched], { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (part: Buffer) => output.push(part));
  child.stderr.on('data', (part: Buffer) => errors.push(part));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, output: String(Buffer.concat(output)), errors: String(Buffer.concat(errors)) };
}

/** JSON that is shown must have no field that the real answer lacks; of text, every line must occur, but for its dots. */
function expectShown(block: CodeBlock, output: string): void {
  if (block.language === 'json') {
    // A command that prints a line for each thing: the first one.
    const [first = ''] = output.trim().split('\n');
    const real = JSON.parse(first.endsWith('}') ? first : output);
    expect(missingFields(JSON.parse(block.text), real, '')).toEqual([]);
    return;
  }
  const shown = substituted(block.text);
  const lines = shown.split('\n').filter((line) => line.trim() !== '' && line.trim() !== '…');
  for (const line of lines) {
    const pattern = line.split('…').map((part) =>
      part
        .trim()
        .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
        .replace(/\s+/g, '\\s+'),
    );
    expect(output).toMatch(new RegExp(pattern.join('.*')));
  }
}

/** Paths of fields that `shown` has and `real` lacks, or has with another type. */
function missingFields(shown: unknown, real: unknown, path: string): string[] {
  if (Array.isArray(shown)) {
    return Array.isArray(real)
      ? shown.slice(0, 1).flatMap((each) => missingFields(each, real[0], `${path}[]`))
      : [path];
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof real !== 'object' || real === null) return [path];
    return Object.entries(shown).flatMap(([name, value]) =>
      Object.hasOwn(real, name)
        ? missingFields(value, (real as Record<string, unknown>)[name], `${path}.${name}`)
        : [`${path}.${name}`],
    );
  }
  return typeof shown === typeof real ? [] : [path];
}
