import { randomUUID } from 'node:crypto';
import type { NewPage } from '../../core/model/page.ts';
import type { Completion, LedgerStore, Receipt } from '../../core/ports/ledger-store.ts';
import { NOW, type PostgresDatabase } from './database.ts';
import { createFoundTasks, jsonParameter, PROVISIONAL } from './parameters.ts';

const NOTHING: Receipt = {
  rejected: [],
  readyHosts: [],
  changedJobs: [],
  finishedJobs: [],
  stoppedJobs: [],
  duplicates: [],
};

export function createPostgresLedgerStore(database: PostgresDatabase): LedgerStore {
  /**
   * The ids of commits that were sent and not answered: whether they took effect is only known to the server. A
   * caller that sends the same list again gets the answer of that commit when it did.
   */
  const unanswered = new WeakMap<readonly Completion[], string>();

  return {
    async commit(completions) {
      if (completions.length === 0) return NOTHING;
      const id = unanswered.get(completions) ?? randomUUID();
      unanswered.set(completions, id);
      const [row] = await database.query(
        `SELECT commit_batch($1, ${NOW}, $2, $3, $4, lease_epochs($5, $12), $6, $7, $8, $9, $10, $11) AS receipt`,
        [
          ...[id, ...parametersOf(completions), PROVISIONAL],
          completions.map(({ lease }) => lease.incarnation),
        ],
      );
      unanswered.delete(completions);
      return JSON.parse(String(row?.receipt)) as Receipt;
    },

    async reserveUrl(lease, task, target) {
      const found = createFoundTasks();
      found.add(1, { ...target, foundBy: 'redirect', foundOn: task });
      const [row] = await database.query(
        `SELECT reserve_url($1, lease_epoch($2, $8), $3, $4, $5, $6, $7, ${NOW}) AS is_reserved`,
        [
          ...[lease.hostId, lease.epoch, task, target.urlKey, found.hosts, found.json, PROVISIONAL],
          lease.incarnation,
        ],
      );
      return row?.is_reserved === true;
    },
  };
}

/** The claims, ends, pages, records, found tasks and hosts of a batch, in the order `commit_batch` takes them. */
function parametersOf(completions: readonly Completion[]): unknown[] {
  const found = createFoundTasks();
  const pages: unknown[] = [];
  const records: (Uint8Array | null)[] = [];
  const ends = completions.map((completion, index) => {
    const ord = index + 1;
    for (const task of completion.discovered) found.add(ord, task);
    if (completion.page !== null) {
      pages.push(pageRow(ord, completion.page));
      records.push(completion.page.record);
    }
    if (completion.end.state === 'moved') found.addHost(completion.end.hostKey);
    return endRow(ord, completion);
  });
  return [
    completions.map(({ taskId }) => taskId),
    completions.map(({ jobSeq }) => jobSeq),
    completions.map(({ lease }) => lease.hostId),
    completions.map(({ lease }) => lease.epoch),
    jsonParameter(ends),
    jsonParameter(pages),
    records,
    found.json,
    found.hosts,
  ];
}

function endRow(ord: number, completion: Completion): unknown {
  const { end, trace, bytes, spent, used, page, microcredits } = completion;
  return {
    ord,
    state: end.state,
    rule: 'rule' in end ? end.rule : null,
    error_code: end.state === 'failed' ? end.errorCode : null,
    ready_at: end.state === 'waiting' ? whole(end.readyAt) : null,
    at_url: end.state === 'moved' ? end.atUrl : null,
    to_host: end.state === 'moved' ? end.hostKey : null,
    hops: end.state === 'moved' ? end.hops : null,
    trace: trace.length === 0 ? null : trace,
    attempts: trace.length,
    bytes: whole(bytes),
    ...(spent === undefined
      ? {}
      : { browser_ms: whole(spent.browserMs), proxy_bytes: whole(spent.proxyBytes) }),
    ...(used === undefined
      ? {}
      : {
          engine: used.engine,
          pages: end.state === 'done' && page !== null ? 1 : 0,
          tokens: used.extras?.tokens ?? 0,
          microcredits: microcredits ?? 0,
        }),
  };
}

/** The columns take whole numbers only, and clocks may tell parts of a millisecond. */
const whole = (value: number): number => Math.floor(value);

function pageRow(ord: number, page: NewPage): unknown {
  return {
    ord,
    url: page.url,
    final_url: page.finalUrl,
    status_code: page.statusCode,
    content_type: page.contentType,
    charset: page.charset,
    fetched_at: whole(page.fetchedAt),
    depth: page.depth,
    content_hash: page.contentHash,
    text_hash: page.textHash,
    bytes: whole(page.bytes),
    title: page.title,
    etag: page.etag,
    last_modified: page.lastModified,
    duplicate_of: page.duplicateOf,
    error_code: page.errorCode,
    error_message: page.errorMessage,
  };
}
