import { expect } from 'vitest';
import type { AccountId } from '../../../src/core/model/ids.ts';
import type { AnswerRequest, KeptAnswer } from '../../../src/core/ports/answer-store.ts';
import type { Claim } from '../contract.ts';
import type { TimedStore } from './timed-store.ts';

const DAY_MS = 86_400_000;
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** What requests with an Idempotency-Key were answered. */
export function answersContract(holds: Claim<TimedStore>): void {
  const requestOf = (owner: string, changes: Partial<AnswerRequest> = {}): AnswerRequest => ({
    accountId: 'default' as AccountId,
    key: 'same',
    owner,
    requestHash: 'hash',
    leaseMs: 60_000,
    keptMs: DAY_MS,
    id: `id of ${owner}`,
    seed: bytesOf(`seed of ${owner}`),
    ...changes,
  });
  const answer: KeptAnswer = {
    statusCode: 201,
    headers: { location: '/v1/jobs/1' },
    body: bytesOf('{"a": "\u0000 ä"}'),
  };

  holds('gives a key to one request, and its answer to every repeat, byte for byte', async (store) => {
    const first = requestOf('one');
    expect(await store.beginAnswer(first)).toMatchObject({
      state: 'begun',
      id: 'id of one',
      isRepeated: false,
    });
    expect(await store.beginAnswer(requestOf('two'))).toMatchObject({ state: 'busy' });
    expect(await store.keepAnswer(requestOf('two'), answer)).toBe(false);
    expect(await store.keepAnswer(first, answer)).toBe(true);
    const repeated = await store.beginAnswer(requestOf('two'));
    if (repeated.state !== 'answered') throw new Error(repeated.state);
    expect(repeated.answer).toMatchObject({ statusCode: 201, headers: answer.headers });
    expect(textOf(repeated.answer.body)).toBe(textOf(answer.body));
    expect(await store.keepAnswer(first, { ...answer, statusCode: 202 })).toBe(false);
    expect(await store.beginAnswer(first)).toMatchObject({ state: 'answered' });
  });

  holds('tells that a key came with another request, and knows keys of one account only', async (store) => {
    await store.beginAnswer(requestOf('one'));
    expect(await store.beginAnswer(requestOf('two', { requestHash: 'other' }))).toEqual({
      state: 'mismatch',
    });
    const foreign = requestOf('two', { accountId: 'another' as AccountId, requestHash: 'other' });
    expect(await store.beginAnswer(foreign)).toMatchObject({ state: 'begun', isRepeated: false });
  });

  holds('gives the id and the seed of a request that died to the next one', async (store) => {
    await store.beginAnswer(requestOf('one', { leaseMs: 0 }));
    const next = await store.beginAnswer(requestOf('two'));
    if (next.state !== 'begun') throw new Error(next.state);
    expect(next).toMatchObject({ id: 'id of one', isRepeated: true });
    expect(textOf(next.seed)).toBe('seed of one');
    // The first was only slow.
    expect(await store.keepAnswer(requestOf('one'), answer)).toBe(false);
    await store.releaseAnswer(requestOf('one'));
    expect(await store.beginAnswer(requestOf('three'))).toMatchObject({ state: 'busy' });
    await store.releaseAnswer(requestOf('two'));
    expect(await store.beginAnswer(requestOf('three'))).toMatchObject({ id: 'id of one', isRepeated: true });
  });

  holds('lets one of many that come together have the key', async (store) => {
    const states = await Promise.all(
      Array.from({ length: 8 }, (_, n) => store.beginAnswer(requestOf(String(n)))),
    );
    expect(states.filter(({ state }) => state === 'begun')).toHaveLength(1);
    expect(states.filter(({ state }) => state === 'busy')).toHaveLength(7);
  });

  holds('forgets a key after its time', async (store) => {
    await store.beginAnswer(requestOf('one'));
    await store.keepAnswer(requestOf('one'), answer);
    expect(await store.deleteOldAnswers(DAY_MS, 10)).toBe(0);
    expect(await store.beginAnswer(requestOf('two', { keptMs: -1, requestHash: 'new' }))).toMatchObject({
      state: 'begun',
      id: 'id of two',
      isRepeated: false,
    });
    expect(await store.deleteOldAnswers(-1, 10)).toBe(1);
    expect(await store.deleteOldAnswers(-1, 10)).toBe(0);
  });
}
