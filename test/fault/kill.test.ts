import { expect, test } from 'vitest';
import { killCrawl } from './kill-crawl.ts';
import { problemsOf } from './verdict.ts';

/** `make fault` kills a larger crawl 30 times. */
const KILLS = 4;
const LIMIT_MS = 120_000;

test(
  'a crawl that is killed again and again comes to what an undisturbed one does',
  async () => {
    const seed = Date.now() % 1_000_000;
    const report = await killCrawl({ pages: 400, kills: KILLS, seed });
    expect({ seed, problems: problemsOf(report) }).toEqual({ seed, problems: [] });
    expect(report.kills).toBe(KILLS);
  },
  LIMIT_MS,
);
