import { expect, test } from 'vitest';
import { soak } from './render-soak.ts';
import { soakProblems } from './render-verdict.ts';

const PAGES = 60;
const LIMIT_MS = 240_000;

test(
  'pages end in a result or a typed error while renderers and browsers are killed, and nothing is left of them',
  async () => {
    const seed = Date.now() % 1_000_000;
    const report = await soak({ pages: PAGES, seed });
    expect({ seed, problems: soakProblems(report, PAGES) }).toEqual({ seed, problems: [] });
  },
  LIMIT_MS,
);
