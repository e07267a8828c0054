import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** A call in the first column: it is made when the module is loaded. */
const HOOK = /^(?:beforeAll|beforeEach|afterAll|afterEach)\(/m;

it('modules that test files share have no hooks: one process loads a module once, for its first test file', () => {
  const files = globSync('{src,test,sdk,fleet}/**/*.ts', {
    cwd: ROOT,
    exclude: (path) => path.endsWith('node_modules'),
  }).filter((path) => !path.endsWith('.test.ts'));
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((path) => HOOK.test(readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
  expect(HOOK.test('afterAll(dropAll);')).toBe(true);
});
