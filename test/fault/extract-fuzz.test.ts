import { expect, test } from 'vitest';
import { fuzz } from './extract-fuzz/fuzz.ts';

const INPUTS = 1_500;
const LIMIT_MS = 180_000;

test(
  'whatever is extracted from ends well, in time, and leaves nothing behind',
  async () => {
    const seed = Date.now() % 1_000_000;
    const { marks, problems } = await fuzz({ inputs: INPUTS, seed, pagesDir: null });
    expect({ seed, problems }).toEqual({ seed, problems: [] });
    expect(marks.at(-1)?.at).toBe(INPUTS);
  },
  LIMIT_MS,
);
