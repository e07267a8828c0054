import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What the program, its types and the generators of docs are made of. */
const COPIED = [
  'src',
  'scripts',
  'docs',
  'bench',
  'test',
  'fleet',
  'sdk',
  'deploy/helm/scrapifie',
  'dashboard/src',
  'package.json',
  'tsconfig.json',
  '.env.example',
  'vitest.config.ts',
];
const INSTALLED = /(?:^|\/)(?:node_modules|\.cache)$/;
const PATIENCE_MS = 300_000;
const MOST_OUTPUT_BYTES = 64_000_000;
const execute = promisify(execFile);

/** A copy of the sources in a folder of its own, for tests of what follows from one more entry of a registry. */
export interface ChangedTree {
  read(path: string): Promise<string>;
  write(path: string, text: string): Promise<void>;
  /** Puts text before the only place of `mark`. */
  insertBefore(path: string, mark: string, text: string): Promise<void>;
  /** What a program of the copy prints; throws with its output when it fails. */
  run(file: string, ...args: string[]): Promise<string>;
  /** What a module prints that stands in the root of the copy. */
  evaluate(code: string): Promise<string>;
  /** Throws with the problems that the compiler finds. */
  checkTypes(): Promise<void>;
  remove(): Promise<void>;
}

export async function copyTree(): Promise<ChangedTree> {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-changed-'));
  const isSource = (path: string) => !INSTALLED.test(path);
  await Promise.all(
    COPIED.map((path) => cp(join(ROOT, path), join(dir, path), { recursive: true, filter: isSource })),
  );
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  const at = (path: string) => join(dir, path);

  async function node(...args: readonly string[]): Promise<string> {
    const options = { cwd: dir, timeout: PATIENCE_MS, maxBuffer: MOST_OUTPUT_BYTES };
    const words = ['--disable-warning=ExperimentalWarning', ...args];
    const { stdout } = await execute(process.execPath, words, options).catch((error: unknown) => {
      const { stdout: said, stderr } = error as { readonly stdout: string; readonly stderr: string };
      throw new Error(`${args.join(' ')}\n${said}\n${stderr}`, { cause: error });
    });
    return stdout;
  }

  const tree: ChangedTree = {
    read: (path) => readFile(at(path), 'utf8'),
    write: (path, text) => writeFile(at(path), text),
    async insertBefore(path, mark, text) {
      const parts = (await tree.read(path)).split(mark);
      if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} places of ${mark}`);
      await tree.write(path, parts.join(text + mark));
    },
    run: node,
    async evaluate(code) {
      await tree.write('evaluated.ts', code);
      return node('evaluated.ts');
    },
    async checkTypes() {
      const compiler = join(
        dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))),
        'bin/tsc',
      );
      await node(compiler, '--noEmit');
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
  return tree;
}

/** Code that prints the OpenAPI document and the tools for language models. */
export const PRINT_API = `
import { openPlatform } from './test/property/api-platform.ts';
const platform = await openPlatform();
const { payload } = await platform.call({ url: '/openapi.json' });
process.stdout.write(payload);
await platform.close();
`;
