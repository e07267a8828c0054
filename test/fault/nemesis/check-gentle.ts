import type { Evidence, Violation } from './evidence.ts';
import type { History, RefusalRecord, RequestRecord } from './history.ts';

/** Refusals that a client can do something with: it comes back when it was told to. */
const HONEST: ReadonlySet<number | null> = new Set([429, 503]);

/**
 * What is owed to clients and sites while processes are only stopped and started again: each request is answered, or refused
 * with the time of the next try, and no page is fetched twice.
 */
export function checkGentle(history: History, evidence: Evidence): Violation[] {
  if (!history.expected.isGentle) return [];
  return [...checkRefusals(history.refusals, evidence), ...checkFetchedOnce(history, evidence)];
}

function checkRefusals(refusals: readonly RefusalRecord[], { at, near }: Evidence): Violation[] {
  return refusals
    .filter(({ status, retryAfter }) => !HONEST.has(status) || retryAfter === null)
    .map((refusal) => {
      const what = `${refusal.what} failed at ${at(refusal.at)}: ${refusal.told}`;
      return { check: 'request', what: `${what}; ${near(refusal.at)}` };
    });
}

/** Jobs that were cancelled or retried may ask again for what they had not stored. */
function checkFetchedOnce({ jobs, calls, requests }: History, { at, near }: Evidence): Violation[] {
  const changed = new Set(
    calls.filter(({ what }) => what === 'cancel' || what === 'retry').map(({ job }) => job),
  );
  const wanted = new Map(
    jobs
      .filter(({ name }) => !changed.has(name))
      .flatMap(({ name, wanted: urls }) => Object.keys(urls).map((url) => [url, name])),
  );
  const byUrl = Map.groupBy(requests, ({ host, path }: RequestRecord) => `http://${host}${path}`);
  return [...byUrl].flatMap(([url, asked]) => {
    const job = wanted.get(url);
    if (job === undefined || asked.length < 2) return [];
    const times = asked
      .map((request) => `${at(request.at)} (${request.worker}, ${request.status})`)
      .join(', ');
    return [
      {
        check: 'fetched twice',
        what: `${url} of ${job} was asked for at ${times}; ${near(asked.at(-1)?.at ?? 0)}`,
      },
    ];
  });
}
