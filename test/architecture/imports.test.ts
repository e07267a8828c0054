import { describe, expect, it } from 'vitest';
import { type Import, importsOf, readSources, type SourceFile } from './sources.ts';

/** The rooms from the top down. A file may import from its own room and from rooms below it. */
const LAYERS = [
  'library',
  'wiring',
  'cli',
  'http/compat',
  'http',
  'http/help',
  'http/mcp',
  'capabilities/views',
  'capabilities',
  'capabilities/plugins',
  'capabilities/retention',
  'capabilities/webhooks',
  'capabilities/monitors',
  'capabilities/exports',
  'capabilities/compare',
  'capabilities/snapshots',
  'capabilities/archive',
  'capabilities/query',
  'capabilities/lake',
  'capabilities/schedules',
  'capabilities/events',
  'capabilities/owners',
  'capabilities/accounts',
  'capabilities/jobs',
  'capabilities/readers',
  'capabilities/backup',
  'crawl/host',
  'crawl/robots',
  'crawl/policy',
  'crawl/politeness',
  'crawl/read',
  'capabilities/sessions',
  'crawl/plan',
  'crawl/llm',
  'fetch',
  'extract/diff',
  'extract',
  'crawl/ledger',
  'crawl/frontier',
  'drivers',
  'core/ports',
  'core/observe',
  'core/model',
  'core/tracing',
  'core/errors',
  'core/config',
  'lib/warc',
  'lib',
];
/** Stands above all folders: where the program begins. */
const TOP_FILES = ['main.ts'];
/** Knows nothing of the rest, so everybody may know it. */
const LEAF_FILE = 'version.ts';
/** The only folder that may name a driver. */
const BUILDER = 'wiring';
/** What drivers of one server, or of one kind of file, have in common. */
const SHARED_BY_DRIVERS = [
  'drivers/derived-file',
  'drivers/redis-link',
  'drivers/store-rows',
  'drivers/store-sql',
];

/** Folders whose decisions are functions of their arguments. */
const PURE_FOLDERS = [
  'crawl/host',
  'crawl/robots',
  'crawl/policy',
  'crawl/politeness',
  'crawl/plan',
  'extract/diff',
  'extract',
  'crawl/frontier',
];
/** What reaches outside the process. */
const OUTSIDE =
  /^(?:node:(?:fs|fs\/promises|net|tls|dns|dns\/promises|dgram|http|https|http2|child_process|cluster|sqlite)|undici|fastify|pino)$/;
/** Exports of those modules that only compute. */
const HARMLESS: ReadonlySet<string> = new Set(['isIP', 'isIPv4', 'isIPv6', 'BlockList']);
const IMPURE_FILES: Readonly<Record<string, string>> = {
  'crawl/policy/policy-file.ts': 'reads the policy file, and notices that it has changed',
};

/** The room of a file is the deepest listed folder that it is in: `extract/diff/x.ts` is in `extract/diff`, not in `extract`. */
const roomOf = (path: string): string =>
  LAYERS.filter((room) => path.startsWith(`${room}/`)).sort((a, b) => b.length - a.length)[0] ?? '';
const driverOf = (path: string): string => path.split('/').slice(0, 2).join('/');

/** Why `from` must not import `to`, or null when it may. */
function objection(from: string, to: string): string | null {
  const [own, other] = [roomOf(from), roomOf(to)];
  if (other === 'core/errors' || to === LEAF_FILE) return null;
  if (other === 'drivers' && own !== 'drivers' && own !== BUILDER) return 'only wiring names drivers';
  if (from === LEAF_FILE) return 'it must not know the rest';
  if (own === '') return null;
  if (other === '') return `${to} stands above every folder`;
  if (own === 'drivers' && other === 'drivers') {
    return driverOf(from) === driverOf(to) || SHARED_BY_DRIVERS.includes(driverOf(to))
      ? null
      : 'one driver does not know another';
  }
  if (own === other) return null;
  return LAYERS.indexOf(own) < LAYERS.indexOf(other) ? null : `${other} is above ${own}`;
}

function reachesOutside({ target, names }: Import): boolean {
  if (!OUTSIDE.test(target)) return false;
  return names.length === 0 || names.some((name) => !HARMLESS.has(name.replace(/^type\s+/, '')));
}

/** Files that load each other in a circle, so that which of them is complete first depends on where loading begins. */
function circlesOf(files: readonly SourceFile[]): readonly string[][] {
  const loads = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.filter(({ isOwn, isLoaded }) => isOwn && isLoaded).map(({ target }) => target),
    ]),
  );
  const reached = (from: string): ReadonlySet<string> => {
    const seen = new Set(loads.get(from));
    for (const path of seen) for (const next of loads.get(path) ?? []) seen.add(next);
    return seen;
  };
  const reach = new Map([...loads.keys()].map((path) => [path, reached(path)]));
  const circles = new Map<string, string[]>();
  for (const [path, targets] of reach) {
    if (!targets.has(path)) continue;
    const circle = [...targets].filter((other) => reach.get(other)?.has(path)).sort();
    circles.set(circle.join(' '), circle);
  }
  return [...circles.values()];
}

const sources = readSources();
const isPure = ({ path }: SourceFile): boolean =>
  PURE_FOLDERS.includes(roomOf(path)) && !Object.hasOwn(IMPURE_FILES, path);

describe('imports', () => {
  it('are found in every form', () => {
    const text = [
      "import { a, b as c } from './one.ts';",
      "import type { D } from '../two/two.ts';",
      "import {\n  e,\n} from 'three';",
      "export { f } from './four.ts';",
      "import './five.ts';",
      "const g = await import('./six.ts');",
      "new Worker(new URL('./seven.ts', import.meta.url));",
      "import h, * as i from 'eight';",
    ].join('\n');
    expect(importsOf('here/file.ts', text).map(({ target }) => target)).toEqual([
      'here/one.ts',
      'two/two.ts',
      'three',
      'here/four.ts',
      'here/five.ts',
      'here/six.ts',
      'here/seven.ts',
      'eight',
    ]);
    expect(importsOf('here/file.ts', text)[0]?.names).toEqual(['a', 'b']);
    expect(importsOf('here/file.ts', text).filter(({ isLoaded }) => !isLoaded)).toMatchObject([
      { target: 'two/two.ts' },
      { target: 'here/seven.ts' },
    ]);
  });

  it('are judged by the direction they go in', () => {
    expect(objection('http/routes/route-deps.ts', 'capabilities/jobs/jobs.ts')).toBeNull();
    expect(objection('capabilities/jobs/jobs.ts', 'http/routes/route-deps.ts')).not.toBeNull();
    expect(objection('core/config/load.ts', 'core/errors/registry.ts')).toBeNull();
    expect(objection('http/routes/route-deps.ts', 'drivers/bus-local/bus-local.ts')).not.toBeNull();
    expect(objection('main.ts', 'drivers/bus-local/bus-local.ts')).not.toBeNull();
    expect(objection('wiring/platform.ts', 'drivers/bus-local/bus-local.ts')).toBeNull();
    expect(objection('drivers/a/x.ts', 'drivers/b/y.ts')).not.toBeNull();
    expect(objection('drivers/a/x.ts', 'crawl/frontier/y.ts')).not.toBeNull();
    expect(objection('drivers/a/x.ts', 'core/ports/y.ts')).toBeNull();
    expect(objection('cli/commands/crawl.ts', 'wiring/platform.ts')).not.toBeNull();
    expect(objection('cli/commands/crawl.ts', 'version.ts')).toBeNull();
    expect(objection('version.ts', 'core/config/load.ts')).not.toBeNull();
  });

  it('there are sources to look at', () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(50);
  });

  it('every folder that is listed here exists', () => {
    const listed = [...LAYERS, ...SHARED_BY_DRIVERS, ...PURE_FOLDERS];
    expect(listed.filter((folder) => !sources.some(({ path }) => path.startsWith(`${folder}/`)))).toEqual([]);
  });

  it('no file stands outside the layers', () => {
    const strangers = sources.filter(
      ({ path }) => ![...TOP_FILES, LEAF_FILE].includes(path) && roomOf(path) === '',
    );
    expect(strangers.map(({ path }) => path)).toEqual([]);
  });

  it('go down, never up', () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ isOwn }) => isOwn)
        .map(({ target }) => ({ path, target, why: objection(path, target) }))
        .filter(({ why }) => why !== null)
        .map(({ target, why }) => `${path} imports ${target}: ${why}`),
    );
    expect(wrong).toEqual([]);
  });

  it('are found when they lead in a circle, types apart', () => {
    const file = (path: string, text: string): SourceFile => ({ path, text, imports: importsOf(path, text) });
    const files = [
      file('a/a.ts', "import { b } from './b.ts';"),
      file('a/b.ts', "import { c } from './c.ts';"),
      file('a/c.ts', "const a = await import('./a.ts');"),
      file('a/d.ts', "import { e } from './e.ts';"),
      file('a/e.ts', "import type { D } from './d.ts';"),
      file('a/f.ts', "import { a } from './a.ts';"),
    ];
    expect(circlesOf(files)).toEqual([['a/a.ts', 'a/b.ts', 'a/c.ts']]);
  });

  it('lead in no circle when the program runs', () => {
    expect(circlesOf(sources)).toEqual([]);
  });

  it('of pure files do not reach outside the process', () => {
    const wrong = sources
      .filter(isPure)
      .flatMap(({ path, imports }) =>
        imports.filter(reachesOutside).map(({ target }) => `${path} imports ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it('of the files that are excused really do', () => {
    const excused = Object.keys(IMPURE_FILES);
    const needed = sources.filter(
      ({ path, imports }) => excused.includes(path) && imports.some(reachesOutside),
    );
    expect(needed.map(({ path }) => path)).toEqual(excused);
  });
});
