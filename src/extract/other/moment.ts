import { parseDate } from '../normalize/date/date.ts';

export interface MomentHints {
  /** When the body was fetched, in milliseconds. */
  readonly fetchedAt: number;
  readonly locale?: string | undefined;
}

/** A date as a value: UTC where the text names the zone, else the day alone. Null when it is none. */
export function momentOf(text: string | null | undefined, hints: MomentHints): string | null {
  if (text === null || text === undefined) return null;
  const parsed = parseDate(text, hints);
  if (parsed === null) return null;
  if (!parsed.hasZone) return parsed.iso.slice(0, 10);
  const time = Date.parse(parsed.iso);
  return Number.isNaN(time) ? parsed.iso.slice(0, 10) : new Date(time).toISOString();
}
