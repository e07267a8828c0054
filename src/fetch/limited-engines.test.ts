import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Engine, FetchRequest, FetchResponse } from './engine.ts';
import { limitConcurrency } from './limited-engines.ts';

const WAIT_MS = 10_000;

/** Engines with one place, whose fetches end when the test says so. */
function onePlace() {
  const started: string[] = [];
  const ends: ((response: FetchResponse) => void)[] = [];
  const engine: Engine = {
    name: 'browser',
    fetch: ({ url }) => {
      started.push(url);
      return new Promise((resolve) => void ends.push(resolve));
    },
    close: async () => undefined,
  };
  const { browser } = limitConcurrency({ browser: engine }, 1, WAIT_MS);
  const fetch = (url: string) => browser.fetch({ url } as FetchRequest);
  const end = () => ends.shift()?.({} as FetchResponse);
  return { end, fetch, started };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a request for which no place is free', () => {
  it('ends with BROWSERS_BUSY after its wait, and is never begun', async () => {
    const { end, fetch, started } = onePlace();
    const first = fetch('first');
    const second = expect(fetch('second')).rejects.toMatchObject({
      code: 'BROWSERS_BUSY',
      retryAfterMs: WAIT_MS,
    });
    await vi.advanceTimersByTimeAsync(WAIT_MS);
    await second;
    end();
    await first;
    const third = fetch('third');
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toEqual(['first', 'third']);
    end();
    await third;
  });

  it('is begun when one becomes free, and has all its time then', async () => {
    const { end, fetch, started } = onePlace();
    const first = fetch('first');
    const second = fetch('second');
    await vi.advanceTimersByTimeAsync(WAIT_MS - 1);
    end();
    await first;
    await vi.advanceTimersByTimeAsync(2 * WAIT_MS);
    expect(started).toEqual(['first', 'second']);
    end();
    await second;
  });
});
