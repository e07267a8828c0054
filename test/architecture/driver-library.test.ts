import { dirname, posix } from 'node:path';
import { expect, it } from 'vitest';
import { importsOf, readSources } from './sources.ts';

const LIBRARY = 'patchright-core';
/** Where a render process begins: the one place that may load the library. */
const CHILD = 'wiring/render-child.ts';
const sources = new Map(readSources().map((source) => [source.path, source]));

/** What a file loads when it runs: imports of types are gone by then. Files that are named load in threads. */
function loadedBy(path: string): string[] {
  const text = sources.get(path)?.text ?? '';
  const values = text.replace(/(?:import|export)\s+type\s+[\w*{}\s,$]*?from\s*'[^']+';/g, '');
  const imported = importsOf(path, values)
    .filter(({ names }) => names.length === 0 || names.some((name) => !name.startsWith('type ')))
    .map(({ target }) => target);
  const code = text.replace(/(?:import|export)\s+[\w*{}\s,$]*?from\s*'[^']+';/g, '');
  const named = [...code.matchAll(/'(\.{1,2}\/[\w./-]+\.ts)'/g)].map(([, target = '']) =>
    posix.join(dirname(path), target),
  );
  return [...imported, ...named];
}

function reachableFrom(entry: string, except: ReadonlySet<string>): Map<string, string> {
  const cameFrom = new Map([[entry, '']]);
  for (const path of cameFrom.keys()) {
    for (const target of loadedBy(path)) {
      if (!cameFrom.has(target) && !except.has(target)) cameFrom.set(target, path);
    }
  }
  return cameFrom;
}

function wayTo(target: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way: string[] = [];
  for (let at = cameFrom.get(target) ?? ''; at !== ''; at = cameFrom.get(at) ?? '') way.unshift(at);
  return way;
}

it('the server never loads the library that drives browsers', () => {
  const reached = reachableFrom('main.ts', new Set([CHILD]));
  expect(reached.size).toBeGreaterThan(200);
  expect(reached.has('wiring/page-thread.ts')).toBe(true);
  expect(wayTo(LIBRARY, reached)).toEqual([]);
});

it('a render process does, and the server starts it', () => {
  expect(reachableFrom(CHILD, new Set()).has(LIBRARY)).toBe(true);
  expect(reachableFrom('main.ts', new Set()).has(CHILD)).toBe(true);
});
