import { afterAll, expect, test } from 'vitest';
import { endMembers } from '../fleet/member.ts';
import { killWebhooks } from './webhook-kills.ts';

const LIMIT_MS = 240_000;
afterAll(() => endMembers());

test(
  'no event is lost, sent again after its success was stored, or sent out of order, whenever the process is killed',
  async () => {
    const options = { profile: 'embedded', kills: 4, jobsPerLife: 2, pagesPerJob: 10 } as const;
    const { problems, kills, jobs } = await killWebhooks({ ...options, seed: Date.now() % 1_000_000 });
    expect(problems).toEqual([]);
    expect({ kills, jobs }).toEqual({ kills: 4, jobs: 10 });
  },
  LIMIT_MS,
);
