import { expect, it } from 'vitest';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import { countFailures } from './counted-calls.ts';

const failing = (error: Error) => () => Promise.reject(error);

function counted(part: 'store' | 'queue') {
  const failures: string[] = [];
  const from = {
    name: 'a part',
    answer: async (value: number) => value * 2,
    away: failing(new ScrapifieError('STORE_UNAVAILABLE', 'away')),
    redisAway: failing(new ScrapifieError('QUEUE_UNAVAILABLE', 'away')),
    conflict: failing(new ScrapifieError('CONFLICT', 'taken')),
    fault: failing(new TypeError('a fault')),
    async *list() {
      yield 1;
    },
    degradation: () => null,
  };
  return {
    failures,
    part: countFailures(part, from, { partFailed: (name, code) => failures.push(`${name} ${code}`) }),
  };
}

it('a part with counted failures answers as before', async () => {
  const { part, failures } = counted('store');
  expect(part.name).toBe('a part');
  expect(await part.answer(21)).toBe(42);
  expect(await Array.fromAsync(part.list())).toEqual([1]);
  expect(part.degradation()).toBeNull();
  expect(failures).toEqual([]);
});

it('failures of a part are counted by their code, and what a caller got wrong is none', async () => {
  const { part, failures } = counted('store');
  await expect(part.away()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await expect(part.conflict()).rejects.toMatchObject({ code: 'CONFLICT' });
  await expect(part.fault()).rejects.toThrow('a fault');
  expect(failures).toEqual(['store STORE_UNAVAILABLE', 'store INTERNAL']);
});

it('what the handler of a call rejects with is no failure of the queue', async () => {
  const { part, failures } = counted('queue');
  await expect(part.fault()).rejects.toThrow('a fault');
  await expect(part.away()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await expect(part.redisAway()).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
  expect(failures).toEqual(['queue QUEUE_UNAVAILABLE']);
});
