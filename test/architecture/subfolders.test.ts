import { describe, expect, it } from 'vitest';
import { readSources, type SourceFile } from './sources.ts';

/** Folders whose subfolders import each other in a circle today. Take a folder off the list once it has been sorted. */
const EXEMPT_FROM_CYCLES: readonly string[] = [];
/** Folders below the top level whose subfolders are checked as well. */
const NESTED_FOLDERS = ['capabilities/jobs', 'crawl/host', 'extract/content', 'fetch/browser'];
/** Folders in which no name may be exported by two files. */
const UNIQUE_NAMES = [
  'http/compat',
  'http/access',
  'http/routes',
  'http/server',
  'http/views',
  'cli',
  'core/config',
  'drivers',
  'core/errors',
  'extract',
  'fetch',
  'crawl/frontier',
  'capabilities/accounts',
  'capabilities/jobs',
  'crawl/ledger',
  'crawl/llm',
  'core/model',
  'core/observe',
  'crawl/host',
  'crawl/read',
  'crawl/plan',
  'crawl/policy',
  'crawl/politeness',
  'core/ports',
  'crawl/robots',
  'capabilities/sessions',
  'capabilities/views',
  'wiring',
];
/** Exported by every command of the command line, which the program loads by its name. */
const SHARED_NAME = 'define';

/** Stands for the files that lie directly in a folder. */
const ROOT = '(files)';
const EXPORT =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|const|let|class|interface|type|enum)\s+([\w$]+)/gm;

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Which subfolders of a folder import which others of it. */
function subfolderGraph(folder: string, files: readonly SourceFile[]): Graph {
  const graph = new Map<string, Set<string>>();
  for (const { path, imports } of files) {
    const from = subfolderOf(folder, path);
    if (from === null) continue;
    const targets = graph.get(from) ?? new Set();
    graph.set(from, targets);
    for (const { target, isOwn } of imports) {
      const to = isOwn ? subfolderOf(folder, target) : null;
      if (to !== null && to !== from) targets.add(to);
    }
  }
  return graph;
}

/** Returns null for a file outside of the folder. */
function subfolderOf(folder: string, path: string): string | null {
  if (!path.startsWith(`${folder}/`)) return null;
  const rest = path.slice(folder.length + 1);
  return rest.includes('/') ? rest.slice(0, rest.indexOf('/')) : ROOT;
}

/** A circle of imports as `a > b > a`; null when there is none. */
function findCycle(graph: Graph): string | null {
  const finished = new Set<string>();
  const visit = (node: string, way: readonly string[]): string | null => {
    const start = way.indexOf(node);
    if (start >= 0) return [...way.slice(start), node].join(' > ');
    if (finished.has(node)) return null;
    for (const target of graph.get(node) ?? []) {
      const cycle = visit(target, [...way, node]);
      if (cycle !== null) return cycle;
    }
    finished.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node, []);
    if (cycle !== null) return cycle;
  }
  return null;
}

function namesExportedTwice(files: readonly SourceFile[]): string[] {
  const places = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    for (const [, name = ''] of text.matchAll(EXPORT))
      places.set(name, (places.get(name) ?? new Set()).add(path));
  }
  return [...places]
    .filter(([name, paths]) => paths.size > 1 && name !== SHARED_NAME)
    .map(([name, paths]) => `${name}: ${[...paths].join(', ')}`);
}

const sources = readSources();
const topFolders = [...new Set(sources.map(({ path }) => path.split('/')))].flatMap(([first, ...rest]) =>
  first !== undefined && rest.length > 0 ? [first] : [],
);
const folders = [...new Set([...topFolders, ...NESTED_FOLDERS])];
const file = (path: string, text = '', ...targets: readonly string[]): SourceFile => ({
  path,
  text,
  imports: targets.map((target) => ({ target, isOwn: true, names: [], isLoaded: true })),
});

describe('subfolders', () => {
  it('that import each other in a circle are found, files of the folder itself included', () => {
    const files = [
      file('x/a/one.ts', '', 'x/b/two.ts'),
      file('x/b/two.ts', '', 'x/c/three.ts', 'y/a/four.ts'),
      file('x/c/three.ts', '', 'x/loose.ts'),
      file('x/loose.ts', '', 'y/a/four.ts'),
    ];
    expect(findCycle(subfolderGraph('x', files))).toBeNull();
    const closed = [...files, file('x/other.ts', '', 'x/b/two.ts')];
    expect(findCycle(subfolderGraph('x', closed))).toBe(`b > c > ${ROOT} > b`);
  });

  it.each(folders.filter((folder) => !EXEMPT_FROM_CYCLES.includes(folder)))(
    'of %s do not import each other in a circle',
    (folder) => {
      expect(findCycle(subfolderGraph(folder, sources))).toBeNull();
    },
  );

  it('are exempt only while they need to be', () => {
    const clean = EXEMPT_FROM_CYCLES.filter((folder) => findCycle(subfolderGraph(folder, sources)) === null);
    expect(clean).toEqual([]);
  });

  it('that are listed here exist', () => {
    const missing = [...EXEMPT_FROM_CYCLES, ...NESTED_FOLDERS, ...UNIQUE_NAMES].filter(
      (folder) => !sources.some(({ path }) => path.startsWith(`${folder}/`)),
    );
    expect(missing).toEqual([]);
  });
});

describe('exported names', () => {
  it('that stand in two files are found', () => {
    const files = [
      file('x/one.ts', 'export const A = 1;\nexport type B = string;\nconst C = 1;'),
      file('x/two.ts', 'export async function A(): Promise<void> {}\nexport class C {}'),
    ];
    expect(namesExportedTwice(files)).toEqual(['A: x/one.ts, x/two.ts']);
  });

  it.each(UNIQUE_NAMES)('of %s have one meaning each', (folder) => {
    expect(namesExportedTwice(sources.filter(({ path }) => path.startsWith(`${folder}/`)))).toEqual([]);
  });
});
