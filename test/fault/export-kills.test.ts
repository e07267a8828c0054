import { afterAll, expect, test } from 'vitest';
import { endMembers } from '../fleet/member.ts';
import { killExports } from './export-kills.ts';

const LIMIT_MS = 240_000;
afterAll(() => endMembers());

test(
  'an export is what an undisturbed process writes, and never served in part, whenever the process is killed',
  async () => {
    const specs = [
      { type: 'full', format: 'csv' },
      { type: 'raw', format: 'markdown' },
    ] as const;
    const options = { profile: 'embedded', kills: 2, exportsPerLife: 2, pages: 100, specs } as const;
    const { problems, ready, failed } = await killExports({ ...options, seed: Date.now() % 1_000_000 });
    expect(problems).toEqual([]);
    expect(ready + failed).toBe(4);
  },
  LIMIT_MS,
);
