import { afterAll, expect, test } from 'vitest';
import { killWebhooks } from '../fault/webhook-kills.ts';
import { endMembers } from './member.ts';

const LIMIT_MS = 300_000;
afterAll(() => endMembers());

test(
  'two schedulers send every event once and in order, whichever process is killed',
  async () => {
    const options = { profile: 'fleet', kills: 2, jobsPerLife: 2, pagesPerJob: 8 } as const;
    const { problems, kills, jobs } = await killWebhooks({ ...options, seed: Date.now() % 1_000_000 });
    expect(problems).toEqual([]);
    expect({ kills, jobs }).toEqual({ kills: 2, jobs: 6 });
  },
  LIMIT_MS,
);
