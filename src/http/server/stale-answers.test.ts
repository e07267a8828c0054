import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountId } from '../../core/model/ids.ts';
import { type AnswerKey, createRecentAnswers } from './stale-answers.ts';

const account = 'a' as AccountId;
const ask = (url: string, given: Partial<AnswerKey> = {}): AnswerKey => ({
  accountId: account,
  url,
  accept: '*/*',
  ...given,
});
const say = (body: string, at = 0) => ({ body, contentType: 'application/json', at });

describe('recent answers', () => {
  it('are found by exactly the same question', () => {
    const recent = createRecentAnswers({ now: () => 0 });
    recent.keep(ask('/v1/jobs?limit=1'), say('one'));
    expect(recent.find(ask('/v1/jobs?limit=1'))).toMatchObject({ body: 'one' });
    expect(recent.find(ask('/v1/jobs?limit=2'))).toBeNull();
    expect(recent.find(ask('/v1/jobs?limit=1', { accept: 'text/html' }))).toBeNull();
    expect(recent.find(ask('/v1/jobs?limit=1', { accountId: 'b' as AccountId }))).toBeNull();
  });

  it('make room by what was not used for longest', () => {
    const recent = createRecentAnswers({ now: () => 0, maxEntries: 2 });
    recent.keep(ask('/1'), say('1'));
    recent.keep(ask('/2'), say('2'));
    recent.find(ask('/1'));
    recent.keep(ask('/3'), say('3'));
    expect(['/1', '/2', '/3'].map((url) => recent.find(ask(url))?.body)).toEqual(['1', undefined, '3']);
  });

  it('are not told when they are too old, nor after they were forgotten', () => {
    const clock = { now: 0 };
    const recent = createRecentAnswers({ now: () => clock.now, maxAgeMs: 1_000 });
    recent.keep(ask('/1'), say('1', 0));
    clock.now = 1_000;
    expect(recent.find(ask('/1'))?.body).toBe('1');
    clock.now = 1_001;
    expect(recent.find(ask('/1'))).toBeNull();
    recent.keep(ask('/1'), say('1', 1_001));
    recent.keep(ask('/1', { accountId: 'b' as AccountId }), say('b', 1_001));
    recent.forget(account);
    expect(recent.find(ask('/1'))).toBeNull();
    expect(recent.find(ask('/1', { accountId: 'b' as AccountId }))?.body).toBe('b');
  });

  it('never take more room than they may, and count it right, whatever is kept', () => {
    const step = fc.record({
      url: fc.integer({ min: 0, max: 20 }).map((id) => `/${id}`),
      size: fc.integer({ min: 0, max: 800 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const recent = createRecentAnswers({ now: () => 0, maxEntries: 8, maxBytes: 4_000 });
        for (const { url, size } of steps) {
          recent.keep(ask(url), say('x'.repeat(size)));
          expect(recent.bytes).toBeLessThanOrEqual(4_000);
          const found = recent.find(ask(url));
          // An answer that is too large to be kept removes the older answer to the same question.
          if (found !== null) expect(found.body).toHaveLength(size);
        }
        recent.forget(account);
        expect(recent.bytes).toBe(0);
      }),
    );
  });
});
