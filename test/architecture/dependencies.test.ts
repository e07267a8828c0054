import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { describe, expect, it } from 'vitest';
import { readSources } from './sources.ts';

interface Package {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

const manifest: Package = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });

/** The package that a module is a part of: `@a/b` for `@a/b/c.js`. */
const packageOf = (target: string): string =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');

/** What each file that ships loads while the program runs, from other packages. */
const loaded = readSources().flatMap(({ path, imports }) =>
  imports
    .filter(({ target, isOwn, isLoaded }) => isLoaded && !isOwn && !isBuiltin(target))
    .map(({ target }) => ({ path, name: packageOf(target) }))
    // The examples in the comments of the library import the library.
    .filter(({ name }) => name !== manifest.name),
);

describe('the dependencies that users install', () => {
  it('are each imported by a file that ships', () => {
    const names = new Set(loaded.map(({ name }) => name));
    expect(installed.filter((name) => !names.has(name))).toEqual([]);
  });

  it('are all that the files that ship import', () => {
    const others = loaded.filter(({ name }) => !installed.includes(name));
    expect(others.map(({ path, name }) => `${path} imports ${name}`)).toEqual([]);
  });
});
