import { expect, it } from 'vitest';
import type { Attempt } from '../../../core/model/attempt.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import type { Job } from '../../../core/model/job.ts';
import type { TaskEnd } from '../../../core/ports/ledger-store.ts';
import { createLoginWalls, LOGIN_REQUIRED_END, loginWallLimit } from './login-walls.ts';

const [A, B] = ['a.example', 'b.example'] as HostKey[];
const DONE: TaskEnd = { state: 'done', rule: null };
const WALL: TaskEnd = { state: 'done', rule: 'outcome.login-wall' };

function counter(limit: number) {
  const walls = createLoginWalls(limit);
  return (
    host: HostKey | undefined,
    end: TaskEnd,
    outcome: Attempt['outcome'],
    url = 'https://a.example/x',
  ) => walls.count(host as HostKey, { kind: 'page', url }, end, { outcome });
}

it('counts pages in a row, host by host', () => {
  const count = counter(2);
  expect(count(A, WALL, 'login-wall')).toBe(false);
  expect(count(B, WALL, 'login-wall')).toBe(false);
  expect(count(A, DONE, 'ok')).toBe(false);
  expect(count(A, WALL, 'login-wall')).toBe(false);
  expect(count(A, { state: 'failed', rule: 'scope.noindex', errorCode: 'HTTP_ERROR' }, 'error')).toBe(false);
  expect(count(A, WALL, 'login-wall')).toBe(true);
  expect(count(B, LOGIN_REQUIRED_END, 'ok')).toBe(true);
});

it('does not take the log-in page itself for a page that is open', () => {
  const count = counter(2);
  expect(count(A, WALL, 'login-wall')).toBe(false);
  expect(count(A, DONE, 'ok', 'https://a.example/login')).toBe(false);
  expect(count(A, WALL, 'login-wall')).toBe(true);
});

it('is as patient as the job says: less with a session, for ever with 0, and only in crawls', () => {
  const limit = (kind: Job['kind'], session: string | null, maxLoginWalls?: number) =>
    loginWallLimit({ kind, options: { page: { session }, maxLoginWalls } as unknown as Job['options'] });
  expect([limit('crawl', 'me'), limit('crawl', null), limit('batch', 'me')]).toEqual([5, 25, 0]);
  expect([limit('crawl', 'me', 2), limit('crawl', 'me', 0)]).toEqual([2, 0]);
  const count = counter(0);
  expect(Array.from({ length: 100 }, () => count(A, WALL, 'login-wall'))).not.toContain(true);
});
