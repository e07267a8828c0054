import { MOST_LONE_INTERRUPTIONS } from '../../core/model/task.ts';
import type { RobotsEntry } from '../../core/ports/host-store.ts';
import { parseRetryAfter } from '../politeness/retry-after.ts';
import { cutToLimit } from './robots-rules.ts';

/** How an attempt to read a robots.txt ended; at most five redirects followed. */
export type RobotsFetch =
  | {
      readonly statusCode: number;
      readonly body: string;
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
    }
  | { readonly failure: string };

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MIN_LIFETIME_MS = 5 * MINUTE_MS;
const UNREACHABLE_MIN_MS = MINUTE_MS;
const UNREACHABLE_MAX_MS = HOUR_MS;
/** Pauses of a host that has no address or refuses connections: at last as long as those of an open breaker. */
const NO_HOST_MIN_MS = 2 * SECOND_MS;
const NO_HOST_MAX_MS = 2 * MINUTE_MS;
/** Past this age an ok entry is no longer used while the host fails to answer: 24 h fresh and 24 h stale. */
const STALE_UNTIL_AGE_MS = 2 * DAY_MS;
/** RFC 9309, 2.3.1.4: after a long time unreachable a robots.txt may be taken as absent. */
const ASSUMED_ABSENT_AFTER_MS = 30 * DAY_MS;

/**
 * Whether an entry is unreachable because the host has no address or refuses connections. That is a mistyped name or a
 * server that is gone more often than an outage, so the host is asked again within seconds, jobs wait for it only that
 * long, and a server that is started is found within two minutes.
 */
export const isWithoutHost = (reason: string): boolean =>
  reason === 'DNS_FAILED' || reason === 'CONNECT_FAILED';

/**
 * What to remember of an attempt to read a robots.txt, given what was remembered before.
 *
 * 2xx is `ok`; 3xx (more redirects than allowed, or one that leads nowhere) and 4xx are `absent`; 429, 5xx and
 * failures of the network are `unreachable`. An `ok` entry outlives failures for another day, because a rule the
 * owner wrote yesterday says more than an outage; it is tried again every five minutes meanwhile.
 *
 * `fetchedAt` of an unreachable entry is when the outage began; after 30 days of it, seen at least daily, the file is
 * taken as absent. The pause until the next try doubles with each try that fails, and never with mere time: nothing is
 * learned of a host while nothing asks for it.
 */
export function robotsEntryFrom(
  result: RobotsFetch,
  origin: string,
  now: number,
  previous: RobotsEntry | null = null,
): RobotsEntry {
  if ('failure' in result) return unreachable(origin, now, previous, result.failure, null);
  const { statusCode } = result;
  const reason = `HTTP ${statusCode}`;
  const isRead = statusCode >= 200 && statusCode < 300;
  if (isRead || (statusCode >= 300 && statusCode < 500 && statusCode !== 429)) {
    return {
      origin,
      status: isRead ? 'ok' : 'absent',
      body: isRead ? cutToLimit(result.body) : '',
      fetchedAt: now,
      expiresAt: now + lifetimeMs(single(result.headers['cache-control'])),
      reason,
      interruptions: 0,
      failures: 0,
    };
  }
  const retryAfterMs = parseRetryAfter(single(result.headers['retry-after']), now);
  return unreachable(origin, now, previous, reason, retryAfterMs);
}

function unreachable(
  origin: string,
  now: number,
  previous: RobotsEntry | null,
  reason: string,
  retryAfterMs: number | null,
): RobotsEntry {
  const pauseMs = (wishedMs: number) => Math.max(wishedMs, retryAfterMs ?? 0);
  if (previous?.status === 'ok' && now < previous.fetchedAt + STALE_UNTIL_AGE_MS) {
    const retryAt = now + pauseMs(MIN_LIFETIME_MS);
    const expiresAt = Math.min(retryAt, previous.fetchedAt + STALE_UNTIL_AGE_MS);
    return { ...previous, expiresAt, reason: `stale: ${reason}`, interruptions: 0 };
  }
  const outage = previous !== null && isSameOutage(previous, now) ? previous : null;
  const since = outage?.fetchedAt ?? now;
  const failures = (outage?.failures ?? 0) + 1;
  const empty = { origin, body: '', fetchedAt: since, interruptions: 0, failures };
  if (now - since >= ASSUMED_ABSENT_AFTER_MS) {
    const expiresAt = now + pauseMs(DAY_MS);
    return { ...empty, status: 'absent', expiresAt, reason: `30 days: ${reason}` };
  }
  return {
    ...empty,
    status: 'unreachable',
    expiresAt: now + pauseMs(retryPauseMs(reason, failures)),
    reason,
  };
}

/** The first two pauses are the shortest, and each later one is twice as long, up to the longest. */
function retryPauseMs(reason: string, failures: number): number {
  const [leastMs, mostMs] = isWithoutHost(reason)
    ? [NO_HOST_MIN_MS, NO_HOST_MAX_MS]
    : [UNREACHABLE_MIN_MS, UNREACHABLE_MAX_MS];
  return Math.min(mostMs, leastMs * 2 ** Math.max(0, failures - 2));
}

/** Interruptions after which the file is not asked for: once beside other work, the other times alone. */
const MOST_ROBOTS_INTERRUPTIONS = 1 + MOST_LONE_INTERRUPTIONS;

/**
 * What to remember while the file is asked for by a process whose tasks on the host were interrupted: should the process
 * die, the next one knows. The rules that were known before are kept, and are not used.
 */
export function askedEntry(origin: string, now: number, previous: RobotsEntry | null): RobotsEntry {
  const { interruptions, ...known } = previous ?? robotsEntryFrom({ failure: 'WORKER_DIED' }, origin, now);
  return { ...known, expiresAt: Math.min(known.expiresAt, now), interruptions: interruptions + 1 };
}

/**
 * What to remember of a file whose answer killed too many processes; null when it did not. After a day it is asked for
 * once more, alone.
 */
export function givenUpEntry(entry: RobotsEntry, now: number): RobotsEntry | null {
  if (entry.interruptions < MOST_ROBOTS_INTERRUPTIONS) return null;
  const interruptions = MOST_ROBOTS_INTERRUPTIONS - 1;
  const unread = robotsEntryFrom({ failure: 'WORKER_DIED' }, entry.origin, now);
  return { ...unread, expiresAt: now + DAY_MS, interruptions };
}

/** Whether a failure now belongs to the outage that `previous` is part of: not when the file was not requested for a day. */
function isSameOutage(previous: RobotsEntry, now: number): boolean {
  const isAssumedAbsent =
    previous.status === 'absent' && previous.expiresAt - previous.fetchedAt > ASSUMED_ABSENT_AFTER_MS;
  const isOutage = previous.status === 'unreachable' || isAssumedAbsent;
  return isOutage && previous.fetchedAt <= now && now - previous.expiresAt <= DAY_MS;
}

function lifetimeMs(cacheControl: string | null): number {
  const seconds = /(?:^|[\s,])max-age="?(\d{1,10})/i.exec(cacheControl ?? '')?.[1];
  if (seconds === undefined) return DAY_MS;
  return Math.min(DAY_MS, Math.max(MIN_LIFETIME_MS, Number(seconds) * SECOND_MS));
}

function single(header: string | readonly string[] | undefined): string | null {
  return header === undefined ? null : typeof header === 'string' ? header : header.join(', ');
}
