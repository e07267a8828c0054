import type { Evidence, Violation } from './evidence.ts';
import type { ExitRecord, History, RequestRecord } from './history.ts';

const SECOND_MS = 1_000;
/** What the way to the server may take away from a pause between two requests. */
const JITTER_SHARE = 0.5;
/** So many of all pauses may be shorter than promised: a request that was held up and one that was not. */
const MOST_SHORT_SHARE = 0.02;
/** A host that goes from one owner to the other and back this often … */
const MOST_CHANGES = 3;
/** From the order to stop to the end of the process. */
const STOPPING_MS = 20_000;
/** … within this time has two of them. */
const CHANGES_WITHIN_MS = 2_000;

export function byHost(requests: readonly RequestRecord[]): Map<string, RequestRecord[]> {
  const hosts = new Map<string, RequestRecord[]>();
  for (const request of requests.toSorted((a, b) => a.at - b.at)) {
    const known = hosts.get(request.host);
    if (known === undefined) hosts.set(request.host, [request]);
    else known.push(request);
  }
  return hosts;
}

/**
 * What every host was promised, as the server saw it: the rate, the connections, one owner at a time. Each request
 * counts, those for robots.txt too.
 */
export function checkPoliteness(history: History, evidence: Evidence): Violation[] {
  const hosts = byHost(history.requests);
  const { ratePerSecond, connections, endlessHosts } = history.expected;
  const exitsAsked = history.exits.filter(({ asked }) => asked === 'stop');
  return [
    ...[...hosts].flatMap(([host, requests]) => [
      ...checkRate(requests, ratePerSecond, evidence),
      ...(endlessHosts.includes(host)
        ? []
        : [
            ...checkConnections(requests, connections, evidence),
            ...checkOwners(requests.filter(isOwners), exitsAsked, evidence),
          ]),
    ]),
    ...checkPauses([...hosts.values()], ratePerSecond),
  ];
}

/**
 * With a rate of R and no burst a window of a second that is open at one end holds at most R requests. One more is
 * allowed, for a request that was held up on its way and one that was not: the server sees arrivals, not departures.
 */
export function mostInSecond(ratePerSecond: number): number {
  return Math.ceil(ratePerSecond) + 1;
}

function checkRate(
  requests: readonly RequestRecord[],
  ratePerSecond: number,
  { at, near }: Evidence,
): Violation[] {
  const most = mostInSecond(ratePerSecond);
  const wrong: Violation[] = [];
  let first = 0;
  let toldUntil = 0;
  for (const [last, request] of requests.entries()) {
    while (request.at - (requests[first]?.at ?? 0) >= SECOND_MS) first += 1;
    const count = last - first + 1;
    if (count <= most || request.at < toldUntil) continue;
    // Windows that overlap tell of the same thing.
    toldUntil = request.at + SECOND_MS;
    const within = requests.slice(first, last + 1);
    const told = within.map(({ at: time, worker, path }) => `${at(time)} ${worker} ${path}`).join(', ');
    const what = `${request.host} got ${count} requests in a second, ${most} at most: ${told}`;
    wrong.push({ check: 'rate', what: `${what}; ${near(request.at)}` });
  }
  return wrong;
}

/** Over all hosts together: single pauses may be cut short on the way, most of them not. */
function checkPauses(hosts: readonly (readonly RequestRecord[])[], ratePerSecond: number): Violation[] {
  const leastMs = (SECOND_MS / ratePerSecond) * JITTER_SHARE;
  let pauses = 0;
  let short = 0;
  for (const requests of hosts) {
    for (const [index, { at }] of requests.entries()) {
      const before = requests[index - 1];
      if (before === undefined) continue;
      pauses += 1;
      if (at - before.at < leastMs) short += 1;
    }
  }
  if (short <= pauses * MOST_SHORT_SHARE) return [];
  return [{ check: 'pauses', what: `${short} of ${pauses} pauses are shorter than ${leastMs} ms` }];
}

function checkConnections(
  requests: readonly RequestRecord[],
  connections: number,
  { at, near }: Evidence,
): Violation[] {
  return requests
    .filter(({ inFlight }) => inFlight > connections)
    .map((request) => ({
      check: 'connections',
      what: `${request.host} had ${request.inFlight} requests under way at ${at(request.at)}; ${near(request.at)}`,
    }));
}

/** A browser-worker asks on behalf of the owner, and does not say of which one. */
const isOwners = ({ worker }: RequestRecord) => worker.startsWith('http-worker');

/** A worker that is told to stop hands its hosts over at once, which is no turn. */
const isHandedOver = (from: RequestRecord, to: RequestRecord, exits: readonly ExitRecord[]) =>
  exits.some(({ process, at }) => process === from.worker && at > from.at && at < to.at + STOPPING_MS);

/** Two workers at one host: requests of both under way, or taking turns faster than a host can be handed over. */
function checkOwners(
  requests: readonly RequestRecord[],
  exits: readonly ExitRecord[],
  { at, near }: Evidence,
): Violation[] {
  const wrong: Violation[] = [];
  const tell = (what: string, time: number) => wrong.push({ check: 'owner', what: `${what}; ${near(time)}` });
  /** The request of each worker that ends last. */
  const latest = new Map<string, RequestRecord>();
  const changes: RequestRecord[] = [];
  for (const [index, request] of requests.entries()) {
    const { host, worker, path, at: time } = request;
    for (const other of latest.values()) {
      if (other.worker === worker || (other.endedAt ?? Number.POSITIVE_INFINITY) <= time) continue;
      const since = `${other.worker} had ${other.path} under way since ${at(other.at)}`;
      tell(`${host} was asked for ${path} by ${worker} at ${at(time)} while ${since}`, time);
    }
    const known = latest.get(worker);
    if (known === undefined || endOf(known) < endOf(request)) latest.set(worker, request);
    const before = requests[index - 1];
    const isChange = before !== undefined && before.worker !== worker;
    if (isChange && !isHandedOver(before, request, exits)) changes.push(request);
    const first = changes.at(-MOST_CHANGES);
    if (first === undefined || changes.at(-1) !== request || time - first.at > CHANGES_WITHIN_MS) continue;
    const turns = changes.slice(-MOST_CHANGES).map((change) => `${change.worker} ${at(change.at)}`);
    tell(`${host} changed its owner ${MOST_CHANGES} times in a moment: ${turns.join(', ')}`, time);
  }
  return wrong;
}

function endOf({ endedAt }: RequestRecord): number {
  return endedAt ?? Number.POSITIVE_INFINITY;
}
