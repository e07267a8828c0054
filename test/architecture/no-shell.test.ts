import { expect, it } from 'vitest';
import { bareCode, readSources } from './sources.ts';

const sources = readSources();

it('no text becomes a command of a shell: programs are started with a list of arguments', () => {
  const shells = sources.filter(
    ({ text, imports }) =>
      /\bshell:\s*true\b/.test(bareCode(text)) ||
      imports.some(
        ({ target, names }) =>
          target === 'node:child_process' && names.some((name) => name === 'exec' || name === 'execSync'),
      ),
  );
  expect(shells.map(({ path }) => path)).toEqual([]);
});

/** `redis.eval` runs scripts of this project in Redis and is a method of the connection. */
it('no text becomes code', () => {
  const evaluating = sources.filter(
    ({ text, imports }) =>
      /(?<!\.)\beval\(|\bnew Function\(/.test(bareCode(text)) ||
      imports.some(({ target }) => target === 'node:vm'),
  );
  expect(evaluating.map(({ path }) => path)).toEqual([]);
});
