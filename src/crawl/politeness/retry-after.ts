/** No server may silence us for longer: a wrong date must not park a host for ever. */
export const MAX_RETRY_AFTER_MS = 86_400_000;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const TIME = '(\\d{2}):(\\d{2}):(\\d{2})';
/** `Sun, 06 Nov 1994 08:49:37 GMT`, and `Sunday, 06-Nov-94 08:49:37 GMT` as old servers write it. */
const FIXED_DATE = new RegExp(
  `^[a-z]{3,9}, (\\d{1,2})[ -]([a-z]{3})[ -](\\d{4}|\\d{2}) ${TIME} (?:GMT|UTC)$`,
  'i',
);
/** `Sun Nov  6 08:49:37 1994`, always UTC. */
const ASCTIME_DATE = new RegExp(`^[a-z]{3} ([a-z]{3}) {1,2}(\\d{1,2}) ${TIME} (\\d{4})$`, 'i');

/**
 * How long a `Retry-After` header asks to wait, at most 24 hours. Zero when its date is past; null when there is
 * no header or it says nothing we understand.
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,15}(\.\d{1,9})?$/.test(text)) return clampRetryAfter(Number(text) * 1_000);
  const at = parseHttpDate(text, now);
  return at === null ? null : clampRetryAfter(at - now);
}

export function clampRetryAfter(ms: number): number {
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(0, Math.ceil(ms)));
}

/** Not `Date.parse`: it takes asctime dates as local time, and much else that is no HTTP date. */
function parseHttpDate(text: string, now: number): number | null {
  const fixed = FIXED_DATE.exec(text);
  if (fixed !== null) {
    const [, day = '', month = '', year = '', hour = '', minute = '', second = ''] = fixed;
    return utc(fullYear(year, now), month, day, hour, minute, second);
  }
  const asctime = ASCTIME_DATE.exec(text);
  if (asctime === null) return null;
  const [, month = '', day = '', hour = '', minute = '', second = '', year = ''] = asctime;
  return utc(Number(year), month, day, hour, minute, second);
}

/** RFC 9110: a two-digit year more than 50 years ahead is the last one with these digits. */
function fullYear(digits: string, now: number): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}

function utc(
  year: number,
  monthName: string,
  day: string,
  hour: string,
  minute: string,
  second: string,
): number | null {
  const month = MONTHS.indexOf(monthName.toLowerCase());
  const isInRange = Number(day) >= 1 && Number(day) <= 31 && Number(hour) < 24 && Number(minute) < 60;
  // 60 is a leap second.
  if (month < 0 || !isInRange || Number(second) > 60) return null;
  return Date.UTC(year, month, Number(day), Number(hour), Number(minute), Number(second));
}

export const BACKOFF_BASE_MS = 2_000;
export const BACKOFF_CAP_MS = 30_000;

/**
 * The pause before trying a URL again, after its `attempt`-th attempt (1 is the first) failed. Full jitter: any
 * time up to a ceiling that doubles with each attempt, so that URLs that failed together are not retried together.
 * The pause is never shorter than the host asked for.
 */
export function retryDelayMs(
  attempt: number,
  random: () => number,
  retryAfterMs: number | null = null,
): number {
  const ceilingMs = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.max(0, attempt - 1));
  const jitteredMs = Math.floor(random() * ceilingMs);
  return retryAfterMs === null ? jitteredMs : Math.max(jitteredMs, clampRetryAfter(retryAfterMs));
}
