import { expect, it } from 'vitest';
import type { Job } from '../../api/types.ts';
import { earlierJobs } from './earlier-jobs.ts';

const job = (id: string, day: number, url: string, more: { pages?: number; kind?: Job['kind'] } = {}): Job =>
  ({
    id,
    kind: more.kind ?? 'crawl',
    seeds: [url],
    createdAt: `2026-01-0${day}T00:00:00.000Z`,
    progress: { pages: more.pages ?? 3 },
  }) as Job;

it('a job is compared with the last one before it from the same URL; jobs without pages and of other sites are no choice', () => {
  const shop = 'http://127.0.0.1:4000/shop/';
  const now = job('now', 5, shop);
  const found = [
    job('later', 6, shop),
    now,
    job('failed', 4, shop, { pages: 0 }),
    job('before', 3, shop),
    job('first', 2, shop),
    job('batch', 4, shop, { kind: 'batch' }),
    job('blog', 4, 'http://127.0.0.1:4000/blog/'),
    job('other port', 4, 'http://127.0.0.1:5000/shop/'),
  ];
  const { same, others, previous } = earlierJobs(now, found);
  expect(same.map(({ id }) => id)).toEqual(['later', 'before', 'first']);
  expect(others.map(({ id }) => id)).toEqual(['batch', 'blog']);
  expect(previous?.id).toBe('before');
  expect(earlierJobs(job('first', 2, shop), found).previous).toBeNull();
});
