/** What makes regular expressions expensive to compile, beyond their length. */
export interface RegexExcess {
  /** Instructions that repetitions such as `{1000}` add when they are written out. */
  instructions: number;
  /** `\p…`, each of which is a table of hundreds of ranges. */
  unicodeClasses: number;
}

/** Limits of a rule set; compiling an instruction takes some microseconds. */
export const MAX_REGEX_EXCESS: RegexExcess = { instructions: 20_000, unicodeClasses: 300 };

const MAX_REPETITIONS = 1_000;
const REPETITION = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y;

/** Estimates the cost of one pattern in one pass, without compiling it, and adds it to `total`. */
export function addRegexExcess(pattern: string, total: RegexExcess): void {
  /** Sizes of the open groups; the last is the current one. */
  const open = [0];
  let last = 0;
  let plain = 0;
  const add = (size: number) => {
    open[open.length - 1] = (open.at(-1) ?? 0) + size;
    last = size;
  };
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === '(') open.push(0);
    else if (char === ')' && open.length > 1) add(open.pop() ?? 0);
    else if (char === '{') {
      REPETITION.lastIndex = at;
      const [whole, least, most] = REPETITION.exec(pattern) ?? [];
      if (whole === undefined) continue;
      const times = Math.min(MAX_REPETITIONS, Math.max(Number(least), Number(most ?? 0), 1));
      add(last * (times - 1));
      last *= times;
      at += whole.length - 1;
    } else {
      if (char === '\\') {
        at++;
        if (pattern[at] === 'p' || pattern[at] === 'P') total.unicodeClasses++;
      }
      add(1);
      plain++;
    }
  }
  total.instructions += Math.max(0, open.reduce((sum, size) => sum + size, 0) - plain);
}
