import { countryName } from './country.ts';

/** Why the members of one provider were passed over: how many for which reason. */
export interface Obstacles {
  readonly provider: string;
  /** When a provider that is left alone may be probed; null when it is not. */
  readonly leftAloneUntil: number | null;
  readonly total: number;
  readonly elsewhere: number;
  readonly failed: number;
  readonly banned: number;
  readonly resting: number;
}

/** In words, for the trace; empty when nothing stood in the way. */
export function describeObstacles(
  { provider, leftAloneUntil, total, elsewhere, failed, banned, resting }: Obstacles,
  host: string,
  country: string | null,
  now: number,
): string {
  if (leftAloneUntil !== null) {
    const seconds = Math.max(1, Math.ceil((leftAloneUntil - now) / 1_000));
    return `${provider} kept failing and is left alone for ${seconds} s`;
  }
  const counted = [
    [elsewhere, country === null ? '' : `not in ${countryName(country)}`],
    [failed, 'failed'],
    [banned, `banned by ${host}`],
    [resting, `resting from ${host}`],
  ] as const;
  const parts = counted.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return parts.length === 0 ? '' : `${provider}: of ${total}, ${parts.join(', ')}`;
}
