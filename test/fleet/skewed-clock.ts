import { readFileSync } from 'node:fs';

/**
 * Loaded before the program and in each of its threads: from then on its wall clock is ahead by what the variable
 * says, and by what the file says that the other one names. The file may change at any time, which sets the clock of
 * the running program. Clocks that cannot be set (`performance.now`, timers) stay as they are.
 */
const skewMs = Number(process.env.TEST_CLOCK_SKEW_MS ?? 0);
const stepFile = process.env.TEST_CLOCK_STEP_FILE;
const RealDate = Date;
const realNow = Date.now.bind(Date);
/** How often the file is read. */
const LOOK_MS = 20;
let stepMs = 0;
let lookedAt = Number.NEGATIVE_INFINITY;

function now(): number {
  if (stepFile !== undefined && performance.now() - lookedAt >= LOOK_MS) {
    lookedAt = performance.now();
    stepMs = readStep(stepFile) ?? stepMs;
  }
  return realNow() + skewMs + stepMs;
}

/** Null while there is no file, or half of one. */
function readStep(file: string): number | null {
  try {
    const text = readFileSync(file, 'utf8');
    return text.endsWith('\n') ? Number(text) : null;
  } catch {
    return null;
  }
}

class SkewedDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(now());
    else super(...(given as [number]));
  }

  static override now(): number {
    return now();
  }
}

globalThis.Date = SkewedDate as DateConstructor;
