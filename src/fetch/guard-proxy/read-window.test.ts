import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { createReadWindow } from './read-window.ts';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const CHUNK = Buffer.alloc(1_000);
const FLOOD_MS = 1_000;

function opened(windowBytes = 10_000) {
  const window = createReadWindow({ windowBytes, floodMs: FLOOD_MS });
  // The streams hold nothing back themselves.
  const [host, client] = [1, 2].map(() => new PassThrough({ highWaterMark: 10_000_000 }));
  if (host === undefined || client === undefined) throw new Error('no streams');
  window.forward(host, client);
  return { window, host, client };
}

async function pour(host: PassThrough, chunks: number): Promise<void> {
  for (let index = 0; index < chunks; index += 1) {
    host.write(CHUNK);
    await settled();
  }
}

describe('a host that is ahead of its reader', () => {
  test('is not read beyond the window, and read on when its content was read', async () => {
    const { window, host, client } = opened();
    await pour(host, 100);
    const passed = () => client.readableLength;
    expect([window.isFull, passed()]).toEqual([true, 11_000]);
    window.consumed(200);
    await settled();
    expect(passed()).toBe(12_000);
    window.reset();
    await settled();
    expect(passed()).toBe(23_000);
  });

  test('cannot save up what it is ahead', async () => {
    const { window, host, client } = opened();
    for (let index = 0; index < 50; index += 1) {
      await pour(host, 1);
      window.consumed(1_000);
    }
    await pour(host, 50);
    expect(client.readableLength).toBe(50_000 + 11_000);
  });
});

describe('a full window', () => {
  test('is a flood when a read waits all the time, however often it is interrupted by nothing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const { window, host } = opened();
      await pour(host, 20);
      let floods = 0;
      const read = () =>
        window.awaiting(new Promise<void>((resolve) => setTimeout(resolve, 300)), () => {
          floods += 1;
        });
      for (let index = 0; index < 3; index += 1) {
        const reading = read();
        await vi.advanceTimersByTimeAsync(300);
        await reading;
        window.consumed(0);
        // No read waits meanwhile, so this time does not count.
        await vi.advanceTimersByTimeAsync(10 * FLOOD_MS);
      }
      expect(floods).toBe(0);
      const last = read();
      await vi.advanceTimersByTimeAsync(150);
      expect(floods).toBe(1);
      await vi.advanceTimersByTimeAsync(150);
      await last;
    } finally {
      vi.useRealTimers();
    }
  });

  test('is none when content comes out of it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const { window, host } = opened();
      await pour(host, 200);
      let floods = 0;
      for (let index = 0; index < 20; index += 1) {
        const reading = window.awaiting(new Promise<void>((resolve) => setTimeout(resolve, 900)), () => {
          floods += 1;
        });
        await vi.advanceTimersByTimeAsync(900);
        await reading;
        window.consumed(1);
      }
      expect([window.isFull, floods]).toEqual([true, 0]);
    } finally {
      vi.useRealTimers();
    }
  });
});
