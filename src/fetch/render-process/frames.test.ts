import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { type FrameHead, FrameReader, writeFrame } from './process-messages.ts';

function written(...frames: Parameters<typeof writeFrame> extends [unknown, ...infer Rest] ? Rest[] : never) {
  const pipe = new PassThrough();
  for (const frame of frames) writeFrame(pipe, ...frame);
  return (pipe.read() as Buffer | null) ?? Buffer.alloc(0);
}

function readerWith(limitOf: (head: FrameHead) => number | null) {
  const frames: string[] = [];
  const violations: string[] = [];
  const reader = new FrameReader({
    limitOf,
    onFrame: ({ kind, id }, payload) => void frames.push(`${kind} ${id} ${payload.toString()}`),
    onViolation: (reason) => void violations.push(reason),
  });
  return { reader, frames, violations };
}

test('frames arrive whole and in order, however the pipe cuts them', () => {
  const bytes = written(['call', 7, 'one'], ['ping', 0], ['blob', 4_000_000_000, Buffer.from('ab'), 'cd']);
  for (let size = 1; size <= bytes.length; size += 1) {
    const { reader, frames, violations } = readerWith(() => 100);
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
    expect([frames, violations]).toEqual([['call 7 one', 'ping 0 ', 'blob 4000000000 abcd'], []]);
  }
});

test('a frame over its limit is refused by its length alone, and nothing after it is read', () => {
  const head = written(['answer', 1, 'x'.repeat(2_000)]).subarray(0, 9);
  const { reader, frames, violations } = readerWith(() => 1_000);
  reader.push(head);
  expect(violations).toEqual([expect.stringContaining('2000 bytes')]);
  reader.push(written(['ping', 0]));
  expect([frames, violations.length]).toEqual([[], 1]);
});

test('a frame of an unknown kind is refused', () => {
  const { reader, violations } = readerWith(() => 1_000);
  reader.push(Buffer.alloc(9));
  expect(violations).toEqual([expect.stringContaining('unknown kind')]);
});

test('a frame that is to be skipped is not kept, and the next one is read', () => {
  const { reader, frames, violations } = readerWith(({ kind }) => (kind === 'blob' ? null : 10));
  reader.push(written(['blob', 3, 'y'.repeat(5_000)], ['pong', 0]));
  expect([frames, violations]).toEqual([['pong 0 '], []]);
});
