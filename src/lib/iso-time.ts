/** A time in milliseconds since 1970 as answers, files and tables tell it: ISO 8601, in UTC. */
export const isoTime = (at: number): string => new Date(at).toISOString();

export const isoTimeOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at));
