/**
 * BullMQ keeps what waits in a sorted set, by priority × 2³² plus a counter of arrivals. Its front door takes whole
 * priorities below 2²¹; a rank in milliseconds since 1970 would be cut down to quarter hours by it. Behind that door
 * fractions work as well, and with 2²⁰ ranks to one priority a score is rank × 4096 + counter: exact in a double
 * until 2039, and good to a few arrivals after it. So lower ranks go first and equal ones in order of arrival; a
 * queue that never ran empty for four million arrivals takes them for one second of rank.
 */
const RANKS_PER_PRIORITY = 2 ** 20;
const SCORES_PER_PRIORITY = 2 ** 32;
/** Ranks above, such as that of a host with nothing to do, count as this one. */
const LAST_RANK = 2 ** 42;

/** Never 0, which to BullMQ is no priority at all but a list of its own. */
export function priorityOf(rank: number): number {
  const whole = Number.isNaN(rank) ? 0 : Math.min(Math.max(0, Math.floor(rank)), LAST_RANK);
  return (whole + 1) / RANKS_PER_PRIORITY;
}

/** The score of the first to arrive at this rank. */
export function firstScoreOf(rank: number): number {
  return priorityOf(rank) * SCORES_PER_PRIORITY;
}
