import type { History, RequestRecord, UrlRecord } from './history.ts';

const START = 1_700_000_000_000;
const HOSTS = ['a.test:81', 'b.test:81'];
const PAGES_PER_HOST = 6;
const PAUSE_MS = 525;
const ANSWER_MS = 100;
const BYTES = 1_000;
const JOB = 'crawl-1';

const hashOf = (url: string) => `hash of ${url}`;

/** Two hosts of six pages, crawled at two requests per second by a worker each, as it should be. */
export function goodHistory(): History {
  const requests: RequestRecord[] = [];
  const urls: UrlRecord[] = [];
  for (const [index, host] of HOSTS.entries()) {
    const pages = Array.from({ length: PAGES_PER_HOST }, (_, page) => `/own/${page}`);
    for (const [order, path] of ['/robots.txt', ...pages].entries()) {
      const at = START + 100 + order * PAUSE_MS;
      const endedAt = at + ANSWER_MS;
      requests.push({
        ...{ at, endedAt, host, path, status: 200, worker: `http-worker-${index + 1}` },
        ...{ remotePort: 5_000 + index, inFlight: 1 },
      });
      if (path === '/robots.txt') continue;
      urls.push({
        ...{ job: JOB, url: `http://${host}${path}`, state: 'done', rule: null, errorCode: null },
        ...{ discoveredAt: START, finishedAt: endedAt + 50 },
        attempts: [{ outcome: 'ok', at, bytes: BYTES }],
      });
    }
  }
  const count = urls.length;
  const counters = {
    ...{ known: count, open: 0, pages: count, done: count, bytes: count * BYTES },
    ...{ failed: 0, skipped: 0, denied: 0, cancelled: 0 },
  };
  const last = {
    ...{ status: 'completed', stopReason: null, createdAt: START, counters },
    finishedAt: Math.max(...urls.map(({ finishedAt }) => finishedAt ?? 0)),
  };
  const accepted = { job: JOB, what: 'accept', status: 202, answer: 'id-1' } as const;
  return {
    expected: {
      ...{
        ratePerSecond: 2,
        connections: 2,
        endlessHosts: [],
        startedAt: START,
        leastFaults: 0,
        troubles: [],
        leastKinds: 0,
        isGentle: false,
      },
    },
    jobs: [
      {
        ...{ name: JOB, sort: 'crawl', id: 'id-1', ownPath: '/own/', isOpenEnded: false, last },
        wanted: Object.fromEntries(urls.map(({ url }) => [url, { hash: hashOf(url) }])),
      },
    ],
    stored: ['id-1'],
    calls: [
      { ...accepted, at: START, endedAt: START + 10 },
      { ...accepted, at: START + 20, endedAt: START + 30 },
    ],
    requests: requests.toSorted((a, b) => a.at - b.at),
    actions: [],
    urls,
    results: urls.map(({ url }) => ({
      ...{ job: JOB, url, statusCode: 200, title: null, bytes: BYTES },
      ...{ contentHash: hashOf(url), bodyHash: hashOf(url) },
    })),
    exits: [],
    memory: [],
    leftovers: [],
    tenants: [],
    received: [],
    refusals: [],
  };
}
