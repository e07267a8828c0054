const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/**
 * Reads the dates of cookies the forgiving way of RFC 6265, section 5.1.1: parts in any order, any separators.
 * Epoch milliseconds, or null when it is no date.
 */
export function cookieDate(text: string): number | null {
  let time: [number, number, number] | null = null;
  let day: number | null = null;
  let month: number | null = null;
  let year: number | null = null;

  for (const token of text.slice(0, 256).split(/[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/)) {
    const clock: RegExpExecArray | null =
      time === null ? /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\D|$)/.exec(token) : null;
    if (clock !== null) {
      time = [Number(clock[1]), Number(clock[2]), Number(clock[3])];
      continue;
    }
    if (day === null && /^\d{1,2}(?:\D|$)/.test(token)) {
      day = Number.parseInt(token, 10);
      continue;
    }
    const named: number = month === null ? MONTHS.indexOf(token.slice(0, 3).toLowerCase()) : -1;
    if (named !== -1) {
      month = named;
      continue;
    }
    if (year === null && /^\d{2,4}(?:\D|$)/.test(token)) year = Number.parseInt(token, 10);
  }

  if (time === null || day === null || month === null || year === null) return null;
  if (year < 70) year += 2_000;
  else if (year < 100) year += 1_900;
  const [hour, minute, second] = time;
  if (year < 1_601 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return null;
  const at = Date.UTC(year, month, day, hour, minute, second);
  // 31 February would have become March.
  return new Date(at).getUTCDate() === day ? at : null;
}
