/** Loaded before the program and in each of its threads: from then on its clock is ahead by what the variable says. */
const skewMs = Number(process.env.TEST_CLOCK_SKEW_MS);
const RealDate = Date;
const realNow = Date.now.bind(Date);

class SkewedDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(realNow() + skewMs);
    else super(...(given as [number]));
  }

  static override now(): number {
    return realNow() + skewMs;
  }
}

globalThis.Date = SkewedDate as DateConstructor;
