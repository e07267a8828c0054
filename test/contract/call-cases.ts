import { expect, vi } from 'vitest';
import { ScrapifieError } from '../../src/core/errors/scrapifie-error.ts';
import { type CallStart, MAX_CALL_BYTES, type Queue } from '../../src/core/ports/queue.ts';
import type { Claim } from './contract.ts';

const RENDER = 'scrape-browser';
const HOW = { rank: 0, timeoutMs: 20_000 };
const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 20_000, interval: 5 });

/** A handler that ends only with its signal. */
function endlessHandler() {
  const signals: AbortSignal[] = [];
  return {
    signals,
    handle: (_request: unknown, signal: AbortSignal): Promise<unknown> => {
      signals.push(signal);
      return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
  };
}

/** The cases of `call`, `answer` and `countAnswerers`. */
export function callCases(holds: Claim<Queue>): void {
  holds('brings a request to whoever answers, and the answer back', async (queue) => {
    const requests: unknown[] = [];
    await queue.answer(RENDER, 1, async (request) => {
      requests.push(request);
      return { blob: 'abc', sizes: [1, 2.5], none: null, text: 'ä\u0000😀' };
    });
    const request = { url: 'https://example.com/?a=b', options: { wait: true } };
    const answer = await queue.call(RENDER, request, HOW);
    expect(requests).toEqual([request]);
    expect(answer).toEqual({ blob: 'abc', sizes: [1, 2.5], none: null, text: 'ä\u0000😀' });
  });

  holds('answers many calls, each with its own, and no more at once than asked for', async (queue) => {
    let running = 0;
    let most = 0;
    await queue.answer(RENDER, 4, async (request) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return { echo: request };
    });
    const numbers = Array.from({ length: 50 }, (_, index) => index);
    const answers = await Promise.all(numbers.map((number) => queue.call(RENDER, number, HOW)));
    expect(answers).toEqual(numbers.map((echo) => ({ echo })));
    expect(most).toBeLessThanOrEqual(4);
  });

  holds('counts calls that wait, and tells how long the oldest of them has', async (queue) => {
    expect(await queue.oldestCallMs(RENDER)).toBe(0);
    const { signals, handle } = endlessHandler();
    await queue.answer(RENDER, 1, handle);
    const leaving = new AbortController();
    const how = { ...HOW, signal: leaving.signal };
    const calls = [1, 2, 3].map((rank) => queue.call(RENDER, {}, { ...how, rank }).catch(() => null));
    await until(async () => expect(await queue.depth(RENDER)).toEqual({ waiting: 2, active: 1 }));
    await until(async () => expect(await queue.oldestCallMs(RENDER)).toBeGreaterThan(20));
    expect(signals).toHaveLength(1);
    leaving.abort();
    await Promise.all(calls);
    await until(async () => expect(await queue.oldestCallMs(RENDER)).toBe(0));
  });

  holds('shares nothing but JSON with the other side', async (queue) => {
    const kept: { list: number[] } = { list: [1] };
    await queue.answer(RENDER, 1, async (request) => {
      (request as typeof kept).list.push(2);
      return kept;
    });
    const request = { list: [7] };
    const answer = (await queue.call(RENDER, request, HOW)) as typeof kept;
    answer.list.push(3);
    expect([request.list, kept.list]).toEqual([[7], [1]]);
  });

  holds('an answer of nothing is null', async (queue) => {
    await queue.answer(RENDER, 1, async () => undefined);
    expect(await queue.call(RENDER, undefined, HOW)).toBeNull();
  });

  holds('brings an error back as it was', async (queue) => {
    const error = new ScrapifieError('BLOCKED', 'The host shows a block page.', {
      details: { status: 403 },
      retryAfterMs: 5_000,
    });
    await queue.answer(RENDER, 1, () => Promise.reject(error));
    const caught = await queue.call(RENDER, {}, HOW).catch((reason: unknown) => reason);
    expect(caught).toBeInstanceOf(ScrapifieError);
    expect(caught).toMatchObject({
      code: 'BLOCKED',
      message: 'The host shows a block page.',
      details: { status: 403 },
      retryAfterMs: 5_000,
    });
  });

  holds('keeps the text of a fault from the caller', async (queue) => {
    await queue.answer(RENDER, 1, () => {
      throw new Error('password hunter2');
    });
    const caught = await queue.call(RENDER, {}, HOW).catch((reason: unknown) => reason);
    expect(caught).toMatchObject({ code: 'INTERNAL' });
    expect(String(caught)).not.toContain('hunter2');
  });

  holds('goes on answering after an error', async (queue) => {
    await queue.answer(RENDER, 1, async (request) => {
      if (request === 'bad') throw new Error('A fault.');
      return request;
    });
    await expect(queue.call(RENDER, 'bad', HOW)).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(await queue.call(RENDER, 'good', HOW)).toBe('good');
  });

  holds('says so when nobody answers, and counts who does', async (queue) => {
    expect(await queue.countAnswerers(RENDER)).toBe(0);
    await expect(queue.call(RENDER, {}, HOW)).rejects.toMatchObject({ code: 'NO_WORKER' });
    const consumer = await queue.answer(RENDER, 1, async () => 1);
    expect(await queue.countAnswerers(RENDER)).toBe(1);
    expect(await queue.countAnswerers('scrape-stealth')).toBe(0);
    await expect(queue.call('scrape-stealth', {}, HOW)).rejects.toMatchObject({ code: 'NO_WORKER' });
    await consumer.stop();
    expect(await queue.countAnswerers(RENDER)).toBe(0);
    await expect(queue.call(RENDER, {}, HOW)).rejects.toMatchObject({ code: 'NO_WORKER' });
  });

  holds(
    'takes back a call that no handler has begun in time, and leaves one that was begun',
    async (queue) => {
      const { handle, signals } = endlessHandler();
      const begun: unknown[] = [];
      await queue.answer(RENDER, 1, async (request, signal) => {
        begun.push(request);
        return request === 'first' ? handle(request, signal) : request;
      });
      const caller = new AbortController();
      const first = queue.call(RENDER, 'first', { ...HOW, startWithinMs: 50, signal: caller.signal });
      const isOver = vi.fn();
      first.then(isOver, isOver);
      await until(() => expect(begun).toEqual(['first']));
      await expect(queue.call(RENDER, 'second', { ...HOW, startWithinMs: 100 })).rejects.toMatchObject({
        code: 'BROWSERS_BUSY',
        retryAfterMs: 100,
      });
      // The first has had its time to be begun as well, and goes on.
      expect([isOver.mock.calls.length, signals[0]?.aborted]).toEqual([0, false]);
      caller.abort();
      await expect(first).rejects.toMatchObject({ code: 'CANCELLED' });
      expect(await queue.call(RENDER, 'third', { ...HOW, startWithinMs: 10_000 })).toBe('third');
      expect(begun).toEqual(['first', 'third']);
    },
  );

  holds('gives up at the time limit, and the handler learns of it', async (queue) => {
    const { handle, signals } = endlessHandler();
    await queue.answer(RENDER, 1, handle);
    await expect(queue.call(RENDER, {}, { rank: 0, timeoutMs: 300 })).rejects.toMatchObject({
      code: 'TASK_TIMEOUT',
    });
    await until(() => expect(signals.every(({ aborted }) => aborted)).toBe(true));
  });

  holds('a cancelled call ends at once, and its handler soon', async (queue) => {
    const { handle, signals } = endlessHandler();
    await queue.answer(RENDER, 1, handle);
    const cancel = new AbortController();
    const call = queue.call(RENDER, {}, { ...HOW, signal: cancel.signal });
    await until(() => expect(signals).toHaveLength(1));
    expect(signals[0]?.aborted).toBe(false);
    cancel.abort();
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    await until(() => expect(signals[0]?.aborted).toBe(true));
  });

  holds('a call cancelled before its turn is never handled', async (queue) => {
    const seen: unknown[] = [];
    const gate = Promise.withResolvers<void>();
    await queue.answer(RENDER, 1, async (request) => {
      seen.push(request);
      await gate.promise;
      return request;
    });
    const first = queue.call(RENDER, 'first', HOW);
    await until(() => expect(seen).toEqual(['first']));
    const cancel = new AbortController();
    const second = queue.call(RENDER, 'second', { ...HOW, signal: cancel.signal });
    cancel.abort();
    await expect(second).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(queue.call(RENDER, 'third', { ...HOW, signal: cancel.signal })).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    gate.resolve();
    expect(await first).toBe('first');
    expect(await queue.call(RENDER, 'last', HOW)).toBe('last');
    expect(seen).toEqual(['first', 'last']);
  });

  holds('a handler may ask its caller, in JSON, as often as it likes', async (queue) => {
    await queue.answer(RENDER, 1, async (request, _signal, ask) => {
      const first = await ask?.({ may: request });
      return [first, await ask?.('again')];
    });
    const questions: unknown[] = [];
    const onQuestion = async (question: unknown) => {
      questions.push(question);
      return questions.length === 1 ? { follow: true } : undefined;
    };
    expect(await queue.call(RENDER, 'x', { ...HOW, onQuestion })).toEqual([{ follow: true }, null]);
    expect(questions).toEqual([{ may: 'x' }, 'again']);
  });

  holds('who takes no questions is not asked', async (queue) => {
    await queue.answer(RENDER, 1, async (_request, _signal, ask) => ask === null);
    expect(await queue.call(RENDER, {}, HOW)).toBe(true);
  });

  holds('a call that waits for its turn is begun once, and not as one begun before', async (queue) => {
    const gate = Promise.withResolvers<void>();
    const starts: [unknown, CallStart][] = [];
    await queue.answer(RENDER, 1, async (request, _signal, _ask, start) => {
      starts.push([request, start]);
      await gate.promise;
      return request;
    });
    const first = queue.call(RENDER, 'first', HOW);
    await until(() => expect(starts).toHaveLength(1));
    const second = queue.call(RENDER, 'second', HOW);
    gate.resolve();
    expect(await Promise.all([first, second])).toEqual(['first', 'second']);
    expect(starts).toMatchObject([
      ['first', { isRepeated: false }],
      ['second', { isRepeated: false }],
    ]);
    for (const [, { waitedMs }] of starts) expect(waitedMs).toBeGreaterThanOrEqual(0);
  });

  holds('what a reply throws is thrown where it was asked, and a fault without its text', async (queue) => {
    const caught: unknown[] = [];
    await queue.answer(RENDER, 1, async (_request, _signal, ask) => {
      for (const question of ['refused', 'broken']) {
        await ask?.(question).catch((error: unknown) => caught.push(error));
      }
    });
    const onQuestion = async (question: unknown) => {
      if (question === 'broken') throw new Error('hunter2');
      throw new ScrapifieError('DOMAIN_DENIED', 'Not there.', { details: { host: 'a.example' } });
    };
    await queue.call(RENDER, {}, { ...HOW, onQuestion });
    expect(caught).toMatchObject([
      { code: 'DOMAIN_DENIED', message: 'Not there.', details: { host: 'a.example' } },
      { code: 'INTERNAL' },
    ]);
    expect(String(caught[1])).not.toContain('hunter2');
  });

  holds('the time for replies is not the call’s', async (queue) => {
    await queue.answer(RENDER, 1, async (_request, _signal, ask) => ask?.('well?'));
    const onQuestion = () => new Promise((resolve) => setTimeout(() => resolve('at last'), 1_500));
    expect(await queue.call(RENDER, {}, { rank: 0, timeoutMs: 1_000, onQuestion })).toBe('at last');
  });

  holds('a call cancelled while it is asked about leaves nobody waiting', async (queue) => {
    const ends: unknown[] = [];
    await queue.answer(RENDER, 1, async (_request, _signal, ask) => {
      await ask?.('well?').catch((error: unknown) => ends.push(error));
    });
    const cancel = new AbortController();
    const onQuestion = () => {
      cancel.abort();
      return new Promise(() => undefined);
    };
    const call = queue.call(RENDER, {}, { ...HOW, onQuestion, signal: cancel.signal });
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    await until(() => expect(ends).toMatchObject([{ code: 'CANCELLED' }]));
  });

  holds('stopping to answer waits for the running calls, which are answered', async (queue) => {
    const gate = Promise.withResolvers<string>();
    let isRunning = false;
    const consumer = await queue.answer(RENDER, 1, () => {
      isRunning = true;
      return gate.promise;
    });
    const call = queue.call(RENDER, {}, HOW);
    await until(() => expect(isRunning).toBe(true));
    let isStopped = false;
    const stopped = consumer.stop().then(() => {
      isStopped = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isStopped).toBe(false);
    gate.resolve('late but there');
    expect(await call).toBe('late but there');
    await stopped;
  });

  holds('refuses what is too large for a queue', async (queue) => {
    const large = 'x'.repeat(MAX_CALL_BYTES);
    await queue.answer(RENDER, 1, async (request) => (request === 'much' ? large : request));
    await expect(queue.call(RENDER, large, HOW)).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(queue.call(RENDER, 'much', HOW)).rejects.toMatchObject({ code: 'INTERNAL' });
    const fits = 'x'.repeat(MAX_CALL_BYTES - 2);
    expect(await queue.call(RENDER, fits, HOW)).toBe(fits);
  });

  holds('fails the calls under way when it closes', async (queue) => {
    const { handle, signals } = endlessHandler();
    await queue.answer(RENDER, 1, handle);
    const call = queue.call(RENDER, {}, HOW).catch((error: unknown) => error);
    await until(() => expect(signals).toHaveLength(1));
    await queue.close();
    expect(await call).toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
  });
}
