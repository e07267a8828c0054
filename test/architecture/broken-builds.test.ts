import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BUILDS, type BuildSpec } from '../fault/nemesis/broken-builds.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

/** Their runs take minutes, and are the only ones that would notice that a source was rewritten or moved. */
it('every text that a broken build replaces stands in its file, once', () => {
  const wrong = Object.entries<BuildSpec>(BUILDS).flatMap(([build, { replacements }]) =>
    replacements
      .filter(({ file, from }) => read(file).split(from).length !== 2)
      .map(({ file, from }) => `${build}: ${file}: ${from}`),
  );
  expect(wrong).toEqual([]);
});
