import { expect, test } from 'vitest';
import { killRetention } from './retention/kill-retention.ts';
import { retentionProblems } from './retention/verdict.ts';

const LIMIT_MS = 180_000;

test(
  'pages that are stored and deleted at random by a process that is killed leave nothing dangling and nothing behind',
  async () => {
    const seed = Date.now() % 1_000_000;
    const verdict = await killRetention({ pages: 3_000, seed, mostMs: 1_500 });
    expect({ seed, problems: retentionProblems(verdict) }).toEqual({ seed, problems: [] });
    expect(verdict.kills).toBeGreaterThan(0);
    expect(verdict.bytesAfter).toBeLessThan(verdict.bytesBefore);
  },
  LIMIT_MS,
);
