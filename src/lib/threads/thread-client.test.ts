import { afterEach, describe, expect, it } from 'vitest';
import type { FixtureMethods } from './answering-thread.fixture.ts';
import { siblingModule } from './thread.ts';
import { ThreadClient, type ThreadClientOptions, type ThreadEnd } from './thread-client.ts';

class Ended extends Error {
  readonly reason: ThreadEnd['reason'];

  constructor({ reason, cause }: ThreadEnd) {
    super(`The thread has ended: ${reason}.`, { cause });
    this.reason = reason;
  }
}

const open: ThreadClient<FixtureMethods, number>[] = [];
afterEach(() => Promise.all(open.splice(0).map((each) => each.close())));

function clientOf(options: Partial<ThreadClientOptions<number>> = {}): ThreadClient<FixtureMethods, number> {
  const client = new ThreadClient<FixtureMethods, number>({
    name: 'fixture',
    entry: siblingModule('./answering-thread.fixture.ts', import.meta.url),
    memory: { youngMb: 8, oldMb: 64 },
    errorOf: (end) => new Ended(end),
    ...options,
  });
  open.push(client);
  return client;
}

describe('a client of a thread', () => {
  it('starts the thread with the first call, and gives it its data', async () => {
    const client = clientOf({ data: { path: '/a' } });
    expect(client.isRunning).toBe(false);
    expect(await client.call('data', [])).toEqual({ path: '/a' });
    expect(client.isRunning).toBe(true);
  });

  it('brings each caller its own answer', async () => {
    const client = clientOf();
    const sums = Promise.all([1, 2, 3].map((each) => client.call('add', [each, each])));
    expect(client.pending).toBe(3);
    expect(await sums).toEqual([2, 4, 6]);
  });

  it('hands buffers over in both directions', async () => {
    const client = clientOf();
    const piece = new Uint8Array(1_000);
    expect(await client.call('sizes', [[piece]], { transfer: [piece.buffer] })).toEqual([1_000]);
    expect(piece.byteLength).toBe(0);
    expect(await client.call('bytes', [3])).toEqual(new Uint8Array([7, 7, 7]));
  });

  it('gives errors of the thread their class, code and details again', async () => {
    const client = clientOf();
    await expect(client.call('refuse', [])).rejects.toMatchObject({
      name: 'ScrapifieError',
      code: 'CONFLICT',
      message: 'It is there already.',
      details: { id: 7 },
    });
    await expect(client.call('fail', [])).rejects.toThrow('It is broken.');
    expect(await client.call('add', [1, 1])).toBe(2);
  });

  it('passes on the notices that a thread sends while it works', async () => {
    const heard: number[] = [];
    const client = clientOf({ onNotice: (notice) => heard.push(notice) });
    expect(await client.call('count', [3, 1])).toBe(3);
    expect(heard).toEqual([1, 2, 3]);
  });
});

describe('a thread that ends', () => {
  it.each([
    ['exit', 'exited'],
    ['fillHeap', 'memory'],
  ] as const)('by %s rejects what it had, and the next call starts another', async (method, reason) => {
    const client = clientOf();
    const lost = Promise.allSettled([client.call(method, []), client.call('add', [1, 1])]);
    expect(await lost).toMatchObject([
      { status: 'rejected', reason: { reason } },
      { status: 'rejected', reason: { reason } },
    ]);
    expect(await client.call('add', [1, 1])).toBe(2);
  });

  it('is ended when its buffers take more memory than allowed', async () => {
    const client = clientOf({ memory: { youngMb: 8, oldMb: 64, bufferBytes: 16_777_216 } });
    await expect(client.call('fillBuffers', [])).rejects.toMatchObject({ reason: 'memory' });
  });

  it('is ended when a call takes too long', async () => {
    const client = clientOf();
    await client.start(60_000);
    await expect(client.call('hang', [], { limitMs: 1 })).rejects.toMatchObject({ reason: 'late' });
    expect(client.isRunning).toBe(false);
  });

  it('has its time anew with each notice where the limit is one of silence', async () => {
    const client = clientOf();
    await client.start(60_000);
    const options = { limitMs: 2_000, isLimitOfSilence: true };
    expect(await client.call('count', [30, 100], options)).toBe(30);
  });

  it('is ended by the signal of a call', async () => {
    const client = clientOf();
    const stop = new AbortController();
    const call = client.call('hang', [], { signal: stop.signal });
    stop.abort();
    await expect(call).rejects.toMatchObject({ reason: 'aborted' });
    await expect(client.call('add', [1, 1], { signal: stop.signal })).rejects.toMatchObject({
      reason: 'aborted',
    });
  });

  it('stays ended where that is final', async () => {
    const client = clientOf({ restarts: false });
    await expect(client.call('exit', [])).rejects.toMatchObject({ reason: 'exited' });
    await expect(client.call('add', [1, 1])).rejects.toMatchObject({ reason: 'exited' });
  });

  it('is ended after its idle time, unless it may not rest', async () => {
    let mayRest = false;
    const client = clientOf({ idleMs: 1, mayRest: () => mayRest });
    await client.call('add', [1, 1]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(client.isRunning).toBe(true);
    mayRest = true;
    await client.call('add', [1, 1]);
    await expect.poll(() => client.isRunning, { timeout: 20_000 }).toBe(false);
    expect(await client.call('add', [1, 1])).toBe(2);
  });

  it('rejects what it had when it is closed, and all later calls', async () => {
    const client = clientOf();
    const call = expect(client.call('hang', [])).rejects.toMatchObject({ reason: 'closed' });
    await client.close();
    await call;
    await expect(client.call('add', [1, 1])).rejects.toMatchObject({ reason: 'closed' });
  });
});

describe('starting a thread ahead of its calls', () => {
  it('tells whether it takes calls by then', async () => {
    const client = clientOf();
    expect(await client.start(0)).toBe(false);
    expect(await client.start(60_000)).toBe(true);
    expect(await client.start(0)).toBe(true);
  });
});
