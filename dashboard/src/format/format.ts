const number = new Intl.NumberFormat(undefined);
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

export const formatNumber = (value: number): string => number.format(value);
export const formatCompact = (value: number): string => compact.format(value);
export const formatDateTime = (at: Date | number | string): string => dateTime.format(new Date(at));
/** Date, time and zone in full, for the text shown on hover. */
export const formatExact = (at: Date | number | string): string => exact.format(new Date(at));

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

/** `830 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const [large, largeName, small, smallName] = unitsOf(seconds);
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${largeName}${rest > 0 ? ` ${rest} ${smallName}` : ''}`;
}

function unitsOf(seconds: number): [number, string, number, string] {
  if (seconds < 3600) return [60, 'min', 1, 's'];
  if (seconds < 86_400) return [3600, 'h', 60, 'min'];
  return [86_400, 'd', 3600, 'h'];
}

const STEPS: readonly [number, Intl.RelativeTimeFormatUnit][] = [
  [60, 'second'],
  [3600, 'minute'],
  [86_400, 'hour'],
  [86_400 * 7, 'day'],
  [86_400 * 30, 'week'],
  [86_400 * 365, 'month'],
  [Number.POSITIVE_INFINITY, 'year'],
];

/** `3 minutes ago`, `in 2 hours`. */
export function formatRelative(at: Date | number | string, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1000;
  const size = Math.abs(seconds);
  if (size < 5) return 'now';
  let unitSeconds = 1;
  for (const [limit, unit] of STEPS) {
    if (size < limit) return relative.format(Math.round(seconds / unitSeconds), unit);
    unitSeconds = limit;
  }
  return formatDateTime(at);
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

export const formatPercent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

/** Host and path of a URL, which say more in a narrow column than its beginning. */
export function shortUrl(url: string): string {
  try {
    const { host, pathname, search } = new URL(url);
    return `${host}${pathname === '/' && search === '' ? '' : pathname + search}`;
  } catch {
    return url;
  }
}

/** `partially_completed` → `partially completed`. */
export const words = (name: string): string => name.replaceAll(/[_-]/g, ' ');
