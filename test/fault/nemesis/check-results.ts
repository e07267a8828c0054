import type { Evidence, Violation } from './evidence.ts';
import { COUNTERS, type Counter, type History } from './history.ts';

/** Every URL exactly one result, the right one, and the ledger and the counters agree with that. */
export function checkResults(history: History, evidence: Evidence): Violation[] {
  return [...checkJob(history, evidence), ...checkPages(history, evidence), ...checkCounters(history)];
}

function checkJob({ job, requests }: History, { at, near }: Evidence): Violation[] {
  const { finishedAt } = job;
  if (finishedAt === null) return [{ check: 'end', what: `the job has not ended; it is ${job.status}` }];
  const wrong: Violation[] = [];
  if (job.status !== 'completed' || job.stopReason !== null) {
    wrong.push({ check: 'end', what: `the job is ${job.status} (${job.stopReason ?? 'no reason'})` });
  }
  for (const { at: time, host, path, worker } of requests.filter((request) => request.at > finishedAt)) {
    const what = `${worker} asked for http://${host}${path} at ${at(time)}, the job ended at ${at(finishedAt)}`;
    wrong.push({ check: 'end', what: `${what}; ${near(time)}` });
  }
  return wrong;
}

function checkPages({ expected, urls, results }: History, { at, near }: Evidence): Violation[] {
  const wrong: Violation[] = [];
  const ledger = new Map<string, History['urls'][number]>();
  for (const entry of urls) {
    if (ledger.has(entry.url)) wrong.push({ check: 'ledger', what: `${entry.url} is in the ledger twice` });
    ledger.set(entry.url, entry);
  }
  const counts = new Map<string, number>();
  for (const { url, statusCode, contentHash, bodyHash } of results) {
    counts.set(url, (counts.get(url) ?? 0) + 1);
    const wanted = expected.pages[url];
    if (wanted === undefined) wrong.push({ check: 'result', what: `${url} has a result and is no page` });
    else if (contentHash !== wanted) {
      wrong.push({ check: 'result', what: `${url} (${statusCode}) has hash ${contentHash}, not ${wanted}` });
    } else if (bodyHash === null) wrong.push({ check: 'body', what: `${url}: its body is gone` });
    else if (bodyHash !== wanted) wrong.push({ check: 'body', what: `${url}: its body is another's` });
  }
  for (const url of Object.keys(expected.pages)) {
    const count = counts.get(url) ?? 0;
    const entry = ledger.get(url);
    if (count === 0) {
      const told =
        entry === undefined
          ? 'is not in the ledger'
          : `is ${entry.state} in the ledger (${entry.errorCode ?? entry.rule ?? 'no reason'}), ` +
            `found at ${at(entry.discoveredAt)}, ended at ${entry.finishedAt === null ? 'never' : at(entry.finishedAt)}; ` +
            near(entry.finishedAt ?? entry.discoveredAt);
      wrong.push({ check: 'result', what: `${url} has no result and ${told}` });
      continue;
    }
    if (count > 1) wrong.push({ check: 'result', what: `${url} has ${count} results` });
    if (entry === undefined) wrong.push({ check: 'ledger', what: `${url} is not in the ledger` });
    else if (entry.state !== 'done' || entry.finishedAt === null) {
      const what = `${url} is ${entry.state} (${entry.errorCode ?? entry.rule ?? 'no reason'}) and has a result`;
      wrong.push({ check: 'ledger', what });
    }
  }
  for (const url of ledger.keys()) {
    if (expected.pages[url] === undefined) wrong.push({ check: 'ledger', what: `${url} is no page` });
  }
  return wrong;
}

/** The counters against the ledger and the results that they are about. */
function checkCounters({ job, urls, results }: History): Violation[] {
  const inState = (...states: string[]) => urls.filter(({ state }) => states.includes(state)).length;
  const counted: Record<Counter, number> = {
    known: urls.length,
    open: inState('ready', 'waiting', 'claimed'),
    pages: results.length,
    done: inState('done'),
    failed: inState('failed'),
    skipped: inState('skipped'),
    denied: inState('denied'),
    cancelled: inState('cancelled'),
    // Whatever an attempt brought counts, also when another one was needed.
    bytes: urls.reduce((sum, { attempts }) => sum + attempts.reduce((all, { bytes }) => all + bytes, 0), 0),
  };
  return COUNTERS.filter((counter) => job.counters[counter] !== counted[counter]).map((counter) => ({
    check: 'counter',
    what: `${counter} is ${job.counters[counter]}, counted ${counted[counter]}`,
  }));
}
