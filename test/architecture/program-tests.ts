import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importsOf } from './sources.ts';

/** Modules that start other programs: browsers, database servers, Scrapifie itself. */
const STARTERS: ReadonlySet<string> = new Set(['node:child_process', 'patchright-core', 'playwright-core']);
/**
 * The platform can start browsers, but a test that opens one only does so when it asks for rendered pages. Such a test
 * opens its platform with `openBrowserWorld`, which imports the search for a browser and is found by that.
 */
const NOT_FOLLOWED: ReadonlySet<string> = new Set(['src/wiring/platform.ts']);
/** Tests and fixtures that serve on a port of this machine: a real server, with the time limits of real connections. */
const SERVES = /\bcreate(?:Secure)?Server\(|\.listen\(/;
const IS_TEST_CODE = /\.(?:test|fixture)\.ts$|^test\//;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A test file, and the import chain by which it can start a program or a server. */
export interface ProgramTest {
  readonly path: string;
  /** From the test file to the module in STARTERS, or to the fixture that serves. */
  readonly chain: readonly string[];
}

/** Paths of all test files, relative to the root of the project, without those of installed packages. */
export function testFiles(): readonly string[] {
  return ['src', 'test', 'dashboard/src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .filter((path) => !path.includes('/node_modules/'))
      .sort(),
  );
}

/**
 * Test files that start a browser, a server or another process. Their time limits depend on programs that this project
 * does not control, so a failed test of theirs is repeated once. Every other test gives the same result on every run,
 * and is never repeated.
 */
export function programTests(): readonly ProgramTest[] {
  const known = new Map<string, readonly string[]>();
  return testFiles().flatMap((path) => {
    const chain = importChain(path, startsProgram, known);
    return chain === null ? [] : [{ path, chain }];
  });
}

const startsProgram = (target: string): boolean =>
  STARTERS.has(target) || (IS_TEST_CODE.test(target) && SERVES.test(readText(target)));

/**
 * The shortest chain of imports from a file to one that is looked for, which may be the file itself. Null when there is none.
 */
export function importChain(
  from: string,
  isWanted: (target: string) => boolean,
  known: Map<string, readonly string[]> = new Map(),
): readonly string[] | null {
  const importedBy = new Map<string, string | null>([[from, null]]);
  for (const path of importedBy.keys()) {
    if (isWanted(path)) return chainOf(path, importedBy);
    for (const target of runtimeImports(path, known)) {
      if (!importedBy.has(target) && !NOT_FOLLOWED.has(target)) importedBy.set(target, path);
    }
  }
  return null;
}

function chainOf(target: string, importedBy: ReadonlyMap<string, string | null>): readonly string[] {
  const chain: string[] = [];
  for (let at: string | null = target; at !== null; at = importedBy.get(at) ?? null) chain.unshift(at);
  return chain;
}

/** Modules that are loaded when the file runs; imports of types are gone by then. */
function runtimeImports(path: string, known: Map<string, readonly string[]>): readonly string[] {
  const before = known.get(path);
  if (before !== undefined) return before;
  const text = readText(path);
  const values = text.replace(/(?:import|export)\s+type\s+[\w*{}\s,$]*?from\s*'[^']+';/g, '');
  const found = importsOf(path, values)
    .filter(({ names }) => names.length === 0 || names.some((name) => !name.startsWith('type ')))
    .map(({ target }) => target);
  known.set(path, found);
  return found;
}

/** Empty for names of packages, and for files that stand in a text of a test. */
function readText(path: string): string {
  const file = join(ROOT, path);
  return path.endsWith('.ts') && existsSync(file) ? readFileSync(file, 'utf8') : '';
}
