import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { EMBEDDED_ONLY } from './profiles.ts';

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

it('integration tests of one profile are there, and so are the tests that show the same on servers', () => {
  for (const [name, reason] of Object.entries(EMBEDDED_ONLY)) {
    expect([name, existsSync(pathOf(`test/integration/${name}.test.ts`))]).toEqual([name, true]);
    for (const [path] of reason.matchAll(/test\/\S+\.test\.ts/g)) {
      expect([path, existsSync(pathOf(path))]).toEqual([path, true]);
    }
  }
});
