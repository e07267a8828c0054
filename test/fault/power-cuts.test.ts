import { expect, test } from 'vitest';
import { cutPower, whyNoDisk } from './power-cuts.ts';

/** `make fault` cuts the power 20 times. */
const CUTS = 3;
const LIMIT_MS = 240_000;

test(
  'after a power failure every page that is done has its body, and the crawl loses no URL',
  async ({ skip }) => {
    const why = whyNoDisk();
    if (why !== null) return skip(why);
    const seed = Date.now() % 1_000_000;
    const { problems, donePages } = await cutPower({ pages: 300, cuts: CUTS, seed });
    expect({ seed, problems }).toEqual({ seed, problems: [] });
    expect(donePages).toBeGreaterThan(0);
  },
  LIMIT_MS,
);
