/** Amounts as people read them; answers for programs have plain numbers. */

/** `0.4 s`, `8 s`, `3 min 20 s`, `2 h 05 min`. */
export function describeMs(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** `12.3 %`, `<0.1 %`, of a share from 0 up. */
export function describeShare(share: number): string {
  return share > 0 && share < 0.001 ? '<0.1 %' : `${(share * 100).toFixed(1)} %`;
}

/** `593 B`, `60.3 kB`, `1.2 GB`. */
export function describeBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** `1 page`, `2,000 pages`. */
export const describeCount = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/** `0.4`, `20.2`, `160`: as many digits as a speed is worth. */
export const describeSpeed = (perSecond: number): string =>
  perSecond >= 100 ? String(Math.round(perSecond)) : perSecond.toFixed(1);

/** Formats a time for people, such as `2026-11-17 02:09:52 UTC`. */
export const describeTime = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
