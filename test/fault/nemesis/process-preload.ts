import { readFileSync } from 'node:fs';

/**
 * Loaded before the program, in its main thread and each of its others. Every tenth of a second it reads the file that
 * the variable names: `clock 3600000` steps the clock on the wall by an hour, in this process and while it runs, and
 * leaves the monotonic clock alone, as a wrong time server does; `heap` fills the heap until the process dies of it.
 */
const CONTROL_FILE = process.env.TEST_PROCESS_CONTROL ?? '';
const READ_EVERY_MS = 100;
const PIECE = 1_000_000;

let stepMs = 0;
const RealDate = Date;
const realNow = Date.now.bind(Date);

class SteppedDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(realNow() + stepMs);
    else super(...(given as [number]));
  }

  static override now(): number {
    return realNow() + stepMs;
  }
}

globalThis.Date = SteppedDate as DateConstructor;

function fillHeap(): never {
  const pieces: number[][] = [];
  for (;;) pieces.push(new Array<number>(PIECE).fill(0.5));
}

function read(): void {
  let text: string;
  try {
    text = readFileSync(CONTROL_FILE, 'utf8');
  } catch {
    return;
  }
  const [order = '', value = '0'] = text.trim().split(' ');
  stepMs = order === 'clock' ? Number(value) : 0;
  if (order === 'heap') fillHeap();
}

if (CONTROL_FILE !== '') setInterval(read, READ_EVERY_MS).unref();
