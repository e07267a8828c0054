import { workerData } from 'node:worker_threads';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { answerCalls, handOver, notify } from './answer-calls.ts';

/** A thread for the tests of its client. */
export interface FixtureMethods {
  data(): unknown;
  add(a: number, b: number): number;
  sizes(pieces: readonly Uint8Array[]): readonly number[];
  bytes(length: number): Promise<Uint8Array>;
  refuse(): void;
  fail(): void;
  /** A call that has no answer, however long it waits. */
  hang(): Promise<void>;
  /** Sends notices, one every few milliseconds, and then answers. */
  count(to: number, everyMs: number): Promise<number>;
  fillHeap(): void;
  fillBuffers(): Promise<void>;
  exit(): void;
}

answerCalls<FixtureMethods>({
  data: () => workerData,
  add: (a, b) => a + b,
  sizes: (pieces) => pieces.map(({ byteLength }) => byteLength),
  async bytes(length) {
    const made = new Uint8Array(length).fill(7);
    return handOver(made, [made.buffer]);
  },
  refuse() {
    throw new ScrapifieError('CONFLICT', 'It is there already.', { details: { id: 7 } });
  },
  fail() {
    throw new TypeError('It is broken.');
  },
  hang: () => new Promise<void>(() => undefined),
  async count(to, everyMs) {
    for (let at = 1; at <= to; at++) {
      await new Promise((resolve) => setTimeout(resolve, everyMs));
      notify(at);
    }
    return to;
  },
  fillHeap() {
    const kept: string[][] = [];
    for (let at = 0; ; at++) kept.push(Array.from({ length: 1_000 }, (_, each) => `${at} ${each}`));
  },
  async fillBuffers() {
    const kept: Uint8Array[] = [];
    while (kept.length < 64) {
      kept.push(new Uint8Array(4_194_304).fill(1));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  },
  exit: () => process.exit(3),
});
