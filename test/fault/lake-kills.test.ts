import { afterAll, expect, test } from 'vitest';
import { endMembers } from '../fleet/member.ts';
import { killLake } from './lake-kills.ts';

const LIMIT_MS = 240_000;
afterAll(() => endMembers());

test(
  'each page is in the lake exactly once, whenever the process is killed',
  async () => {
    const options = { kills: 2, jobsPerLife: 2, pagesPerJob: 15 } as const;
    const { problems, jobs } = await killLake({ ...options, seed: Date.now() % 1_000_000 });
    expect(problems).toEqual([]);
    expect(jobs).toBe(6);
  },
  LIMIT_MS,
);
