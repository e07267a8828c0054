import { type Evidence, forgottenIn, type Violation } from './evidence.ts';
import {
  COUNTERS,
  type Counter,
  type History,
  type JobRecord,
  type ResultRecord,
  type UrlRecord,
} from './history.ts';

/** What one job left. */
interface JobParts {
  readonly job: JobRecord;
  readonly urls: readonly UrlRecord[];
  readonly results: readonly ResultRecord[];
  /** Whether `retry` was used on it: what earlier attempts brought is then counted and no longer told. */
  readonly isRetried: boolean;
}

/** Every URL of every job exactly one result, the right one, and the ledger and the counters agree with that. */
export function checkResults(history: History, evidence: Evidence): Violation[] {
  const urls = Map.groupBy(history.urls, ({ job }) => job);
  const results = Map.groupBy(history.results, ({ job }) => job);
  const retried = new Set(
    history.calls.filter(({ what, status }) => what === 'retry' && status === 200).map(({ job }) => job),
  );
  return history.jobs.flatMap((job) => {
    const parts: JobParts = {
      job,
      urls: urls.get(job.name) ?? [],
      results: results.get(job.name) ?? [],
      isRetried: retried.has(job.name),
    };
    if (job.last === null) return [{ check: 'lost', what: `${job.name} (${job.id}) is gone` }];
    return [
      ...checkEnd(history, job, evidence),
      ...checkPages(parts, evidence),
      ...checkExtra(parts),
      ...checkCounters(parts, job.last.counters),
    ];
  });
}

function checkEnd(
  history: History,
  { name, sort, last, ownPath }: JobRecord,
  { at, near }: Evidence,
): Violation[] {
  if (last === null) return [];
  const { finishedAt, status, stopReason } = last;
  if (finishedAt === null) return [{ check: 'end', what: `${name} has not ended; it is ${status}` }];
  const wrong: Violation[] = [];
  // Hostile webs have pages that cannot be had.
  if (sort !== 'hostile' && (status !== 'completed' || stopReason !== null)) {
    wrong.push({ check: 'end', what: `${name} is ${status} (${stopReason ?? 'no reason'})` });
  }
  if (ownPath === null || forgottenIn(history.actions, { from: finishedAt, until: finishedAt })) return wrong;
  for (const { at: time, host, path, worker } of history.requests) {
    if (time <= finishedAt || !path.startsWith(ownPath)) continue;
    const what = `${worker} asked for http://${host}${path} at ${at(time)}, ${name} ended at ${at(finishedAt)}`;
    wrong.push({ check: 'end', what: `${what}; ${near(time)}` });
  }
  return wrong;
}

function checkPages({ job, urls, results }: JobParts, { at, near }: Evidence): Violation[] {
  const wrong: Violation[] = [];
  const tell = (check: string, what: string) => wrong.push({ check, what: `${job.name}: ${what}` });
  const ledger = new Map<string, UrlRecord>();
  for (const entry of urls) {
    if (ledger.has(entry.url)) tell('twice', `${entry.url} is in the ledger twice`);
    ledger.set(entry.url, entry);
  }
  const found = Map.groupBy(results, ({ url }) => url);
  const reasonOf = ({ errorCode, rule }: UrlRecord) => errorCode ?? rule ?? 'no reason';
  for (const [url, wanted] of Object.entries(job.wanted)) {
    const pages = found.get(url) ?? [];
    const entry = ledger.get(url);
    if (pages.length > 1) tell('twice', `${url} has ${pages.length} results`);
    if (entry === undefined) {
      tell('lost', `${url} is not in the ledger and has ${pages.length} results`);
      continue;
    }
    const ended = entry.finishedAt === null ? 'never' : at(entry.finishedAt);
    const story = `found at ${at(entry.discoveredAt)}, ended at ${ended}; ${near(entry.finishedAt ?? entry.discoveredAt)}`;
    if (wanted.codes !== undefined && entry.state !== 'done') {
      const isTyped = entry.state === 'failed' && wanted.codes.includes(entry.errorCode ?? '');
      if (!isTyped) tell('typed', `${url} is ${entry.state} (${reasonOf(entry)}), ${story}`);
      continue;
    }
    const [page] = pages;
    if (page === undefined || entry.state !== 'done') {
      tell('lost', `${url} is ${entry.state} (${reasonOf(entry)}) with ${pages.length} results, ${story}`);
      continue;
    }
    checkBody(page, wanted, tell);
  }
  return wrong;
}

function checkBody(
  { url, statusCode, title, contentHash, bodyHash }: ResultRecord,
  wanted: JobRecord['wanted'][string],
  tell: (check: string, what: string) => void,
): void {
  if (wanted.title !== undefined && title !== wanted.title) {
    tell('result', `${url} (${statusCode}) is “${title}”, not “${wanted.title}”`);
  }
  if (bodyHash === null) tell('body', `${url}: its body is gone`);
  if (wanted.hash === undefined) return;
  if (contentHash !== wanted.hash) {
    tell('result', `${url} (${statusCode}) has hash ${contentHash}, not ${wanted.hash}`);
  } else if (bodyHash !== null && bodyHash !== wanted.hash) tell('body', `${url}: its body is another's`);
}

/** URLs and results that do not belong to the job. */
function checkExtra({ job, urls, results }: JobParts): Violation[] {
  if (job.isOpenEnded) return [];
  return [
    ...urls.map(({ url }) => ['ledger', url] as const),
    ...results.map(({ url }) => ['result', url] as const),
  ]
    .filter(([, url]) => job.wanted[url] === undefined)
    .map(([check, url]) => ({ check, what: `${job.name} has ${url}, which is none of its pages` }));
}

/** The counters against the ledger and the results that they are about. */
function checkCounters(
  { job, urls, results, isRetried }: JobParts,
  counters: Readonly<Record<Counter, number>>,
): Violation[] {
  const inState = (...states: string[]) => urls.filter(({ state }) => states.includes(state)).length;
  const counted: Record<Counter, number> = {
    known: urls.length,
    open: inState('ready', 'waiting', 'claimed'),
    // A URL that was never answered has a result that says so, and is no page.
    pages: results.filter(({ statusCode }) => statusCode !== null).length,
    done: inState('done'),
    failed: inState('failed'),
    skipped: inState('skipped'),
    denied: inState('denied'),
    cancelled: inState('cancelled'),
    // Whatever an attempt brought counts, also when another one was needed.
    bytes: urls.reduce((sum, { attempts }) => sum + attempts.reduce((all, { bytes }) => all + bytes, 0), 0),
  };
  return COUNTERS.filter(
    (counter) => counters[counter] !== counted[counter] && !(counter === 'bytes' && isRetried),
  ).map((counter) => ({
    check: 'counter',
    what: `${job.name}: ${counter} is ${counters[counter]}, counted ${counted[counter]}`,
  }));
}
