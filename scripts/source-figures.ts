import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { folderChanges, URL_WAY } from './url-way.ts';

/** Measures the sources: how large they are, and how many files one more entry of a registry would be edited in. */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Where people write code that an entry of a registry could have to be repeated in. */
const WRITTEN = ['src', 'dashboard/src', 'scripts'];
const GENERATED: ReadonlySet<string> = new Set(['dashboard/src/api/choices.ts']);
const IS_TEST = /\.(?:test|fixture)\.tsx?$/;
const LONG_LINES = 200;

/** Entries that stand for all of their registry, by what they are. */
export const EXAMPLES = {
  'page option': 'blockResources',
  'export format': 'xlsx',
  event: 'schedule.missed',
  'audit action': 'vault.rotate',
  'job kind': 'map',
} as const;
/** Arrays have a method of the name of the kind, so that only texts and keys of objects name it. */
const ONLY_STATED: ReadonlySet<string> = new Set([EXAMPLES['job kind']]);
/** Where the name of the kind has another meaning: maps of types, of values, and the list of URLs that an estimate is given. */
const OTHER_MEANINGS: Readonly<Record<string, RegExp>> = {
  [EXAMPLES['job kind']]:
    /^(?:scripts\/client-types\/|src\/extract\/rules\/|src\/http\/routes\/estimate\.ts$)/,
};

export interface LongFunction {
  readonly path: string;
  readonly name: string;
  readonly lines: number;
}

export interface SourceFigures {
  readonly files: number;
  readonly lines: number;
  readonly topFolders: readonly string[];
  /** Functions of more than 200 lines, the longest first. */
  readonly longFunctions: readonly LongFunction[];
  /** How often the way of a URL goes on in another top folder, and in another room below it. */
  readonly wayChanges: { readonly files: number; readonly topFolders: number; readonly rooms: number };
  /** Files in which a program text, and not a comment or a sentence, names the example. */
  readonly naming: Readonly<Record<keyof typeof EXAMPLES, readonly string[]>>;
}

interface Source {
  readonly path: string;
  readonly text: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly name?: unknown;
  readonly value?: unknown;
  readonly id?: { readonly name: string } | null;
  readonly key?: { readonly name?: string };
}

const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
]);

export function measureSources(): SourceFigures {
  const written = WRITTEN.flatMap(sourcesIn);
  const way = URL_WAY.flatMap(({ files }) => files);
  const own = written.filter(({ path }) => path.startsWith('src/'));
  const words = written.map((source) => ({ path: source.path, words: wordsOf(source) }));
  const naming = Object.entries(EXAMPLES).map(([what, word]) => [
    what,
    words
      .filter(({ path, words: found }) => found.has(word) && OTHER_MEANINGS[word]?.test(path) !== true)
      .map(({ path }) => path),
  ]);
  return {
    files: own.length,
    lines: own.reduce((sum, { text }) => sum + linesOf(text), 0),
    topFolders: [...new Set(own.flatMap(({ path }) => path.split('/').slice(1, -1).slice(0, 1)))].sort(),
    longFunctions: own.flatMap(longFunctionsOf).toSorted((a, b) => b.lines - a.lines),
    wayChanges: { files: way.length, topFolders: folderChanges(way, 1), rooms: folderChanges(way, 2) },
    naming: Object.fromEntries(naming) as SourceFigures['naming'],
  };
}

function sourcesIn(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !IS_TEST.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !GENERATED.has(path))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

const linesOf = (text: string): number => text.split('\n').length - 1;

/** The names and the texts of a program, each as a whole: a word within a sentence is none. */
function wordsOf({ path, text }: Source): ReadonlySet<string> {
  const words = new Set<string>();
  for (const { type, name, value, key } of nodesOf(path, text)) {
    if (type === 'Identifier' && typeof name === 'string' && !ONLY_STATED.has(name)) words.add(name);
    if (type === 'Property' && key?.name !== undefined) words.add(key.name);
    if (type === 'Literal' && typeof value === 'string') words.add(value);
  }
  // This file names the examples to find the others.
  return path === 'scripts/source-figures.ts' ? new Set() : words;
}

/** Returns the functions of a program text that have more than 200 lines, with the name that they are given or kept under. */
export function longFunctionsOf({ path, text }: Source): LongFunction[] {
  const found: LongFunction[] = [];
  let holder = '';
  for (const node of nodesOf(path, text)) {
    if (node.type === 'VariableDeclarator') holder = node.id?.name ?? '';
    if (node.type === 'MethodDefinition' || node.type === 'Property') holder = node.key?.name ?? '';
    if (!FUNCTIONS.has(node.type)) continue;
    const lines = linesOf(text.slice(node.start, node.end)) + 1;
    if (lines > LONG_LINES) found.push({ path, name: node.id?.name ?? holder, lines });
  }
  return found;
}

function* nodesOf(path: string, text: string): Generator<Node> {
  const waiting: unknown[] = [parseSync(path, text).program];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (Array.isArray(next)) {
      waiting.push(...next.toReversed());
    } else if (typeof next === 'object' && next !== null) {
      if ('type' in next) yield next as Node;
      waiting.push(...Object.values(next).toReversed());
    }
  }
}
