/** Values of a row; objects and lists are JSON. */
export type EarlierRow = Readonly<Record<string, string | number | null | Uint8Array | object>>;

/**
 * Tables that get no row, and why; an entry of the audit log is written by its own way, because entries are chained.
 */
export const WITHOUT_ROW: Readonly<Record<string, string>> = {
  audit: 'see appendEntry of the tests',
  audit_log: 'see appendEntry of the tests',
  audit_head: 'has its row from the migration',
  event_log: 'has its row from the migration',
  readers: 'has its rows from the migration',
  search_builds: 'has its row from the migration',
  incarnation: 'names one run of one server',
  schema_versions: 'written by the migrations themselves',
  snapshot_usage: 'written by triggers of the table snapshots',
};

/** Tables that a later migration drops, and where their rows go. */
export const DROPPED: Readonly<Record<string, string>> = {
  audit: 'every entry is in audit_log',
  idempotency: 'keys of requests are remembered for a day; kept_answers has the newer ones',
};

const bytes = (n: number) => Uint8Array.from([0, 255, n]);

/**
 * A row for every table that any schema has had, in an order in which references hold. `n` makes the rows of several
 * schemas different. A schema gets the tables and columns that it has; what a later column is not known to it.
 */
export function earlierRows(n: number): readonly (readonly [table: string, row: EarlierRow])[] {
  const at = 1_700_000_000_000 + n;
  const account = `account-${n}`;
  const owned = { account_id: account, created_at: at, updated_at: at };
  const url = `https://host-${n}.test/page?é=${n}`;
  const job = `job-${n}`;
  // biome-ignore format: a row is a line
  return [
    ['accounts', { id: account, name: `Account „${n}“`, created_at: at, plan: 'small', open_urls: 10 + n, retention: { jobsDays: 3 } }],
    ['keys', { ...owned, id: `key-${n}`, name: 'a key', hash: `hash-${n}`, prefix: 'sk_12345', scopes: ['jobs:read'], rate_per_minute: n }],
    ['former_secrets', { hash: `former-${n}`, key_id: `key-${n}`, valid_until: at }],
    ['jobs', { ...owned, seq: n, id: job, kind: 'crawl', status: 'running', options: { maxDepth: n, page: { headers: { a: 'b' } } }, seeds: [url], max_pages: 100, known: 3, open: 2, done: 1, pages: 1, bytes: 1_234, microcredits: 5, browser_ms: 6 }],
    ['job_sources', { job_seq: n, sources: ['HTTPS://Host.test'] }],
    ['job_expiry', { job_seq: n, bodies: 3 }],
    ['hosts', { id: n, key: `host-${n}.test`, state: { memory: { n } }, rank: 7, next_at: at, blocked_until: at, epoch: n }],
    ['tasks', { id: 10 * n + 1, job_seq: n, host_id: n, kind: 'page', state: 'done', rank: 1, depth: 0, attempts: 2, found_by: 'seed', url_key: url, url, trace: { why: 'seed' }, created_at: at, finished_at: at }],
    ['tasks', { id: 10 * n + 2, job_seq: n, host_id: n, kind: 'page', state: 'ready', rank: 2, depth: 1, found_by: 'link', found_on: 10 * n + 1, url_key: `${url}&b`, url: `${url}&b`, created_at: at }],
    ['tasks', { id: 10 * n + 3, job_seq: n, host_id: n, kind: 'page', state: 'waiting', rank: 3, ready_at: at, depth: 1, found_by: 'link', url_key: `${url}&c`, url: `${url}&c`, created_at: at }],
    ['pages', { seq: n, task_id: 10 * n + 1, job_seq: n, url, final_url: url, status_code: 200, content_type: 'text/html', charset: 'utf-8', fetched_at: at, depth: 0, content_hash: `body-${n}`, text_hash: `text-${n}`, bytes: 1_234, title: 'Título', record: bytes(n) }],
    ['robots', { origin: `https://host-${n}.test`, status: 'found', body: 'User-agent: *', fetched_at: at, expires_at: at, reason: 'fetched' }],
    ['opt_outs', { host: `optout-${n}.test`, reason: 'asked', contact: 'owner', at, min_delay_ms: 1_000 }],
    ['owner_requests', { seq: n, id: `request-${n}`, host: `owner-${n}.test`, seconds_between: 5, token: 'token', message: 'please', created_at: at, expires_at: at }],
    ['idempotency', { account_id: account, key: `key-${n}`, request_hash: 'hash', job_id: job, at }],
    ['kept_answers', { account_id: account, key: `key-${n}`, request_hash: 'hash', resource_id: job, seed: bytes(n), owner: 'one', held_until: at, at, status: 202, headers: {}, body: bytes(n) }],
    ['sessions', { ...owned, seq: n, id: `session-${n}`, name: 'log-in', wish: { sticky: true }, expires_at: at, request_count: n, data: bytes(n) }],
    ['credentials', { ...owned, seq: n, name: 'shop', kind: 'basic', hosts: ['shop.test'], data: bytes(n) }],
    ['work_leases', { name: `lease-${n}`, owner: 'one', until: at }],
    ['probe', { id: n, at }],
    ['commits', { id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`, at, receipt: { pages: n } }],
    ['spilled_blobs', { hash: `spilled-${n}`, bytes: bytes(n), at }],
    ['transit_blobs', { hash: `transit-${n}`, bytes: bytes(n), at }],
    ['events', { era: 9_000 + n, tx: 0, seq: n, type: 'job.created', account_id: account, job_id: job, at, data: { n } }],
    ['webhooks', { ...owned, seq: n, id: `webhook-${n}`, format: 'json', events: ['job.completed'], target: 'https://hook.test', data: bytes(n) }],
    ['deliveries', { seq: n, id: `delivery-${n}`, webhook_id: `webhook-${n}`, account_id: account, lane: job, event_id: `e-${n}`, type: 'job.completed', event: { n }, created_at: at }],
    ['delivery_lanes', { webhook_id: `webhook-${n}`, lane: job, account_id: account, next_at: at }],
    ['webhook_reader', { id: 1, cursor: 'cursor' }],
    ['credits', { account_id: account, is_limited: 1, monthly: 1_000, low: 10, month: 700, allowance: 900, balance: 50 }],
    ['credit_holds', { job_seq: n, account_id: account, month: 700, allowance: 1, balance: 2 }],
    ['credit_entries', { seq: n, id: `entry-${n}`, account_id: account, at, kind: 'grant', microcredits: 5, reason: 'a gift', key: 'k' }],
    ['usage_log', { seq: n, account_id: account, key_id: `key-${n}`, job_id: job, engine: 'http', host: `host-${n}.test`, day: 20_000, pages: 1, attempts: 1, bytes: 2, browser_ms: 3, proxy_bytes: 4, tokens: 5, microcredits: 6 }],
    ['usage_sums', { account_id: account, grouped_by: 'job', day: 20_000, value: job, pages: 1, attempts: 1, bytes: 2, browser_ms: 3, proxy_bytes: 4, tokens: 5, microcredits: 6 }],
    ['schedules', { ...owned, seq: n, id: `schedule-${n}`, name: 'nightly', rules: { cron: '0 3 * * *' }, job: { urls: [url] }, is_paused: 0, next_tick_at: at, due_at: at, revision: 1 }],
    ['schedule_runs', { seq: n, id: `run-${n}`, schedule_id: `schedule-${n}`, account_id: account, started_by: 'tick', tick_at: at, status: 'started', job_id: job, created_at: at }],
    ['exports', { seq: n, id: `export-${n}`, account_id: account, job_id: job, spec: { format: 'csv' }, secret: 'secret', status: 'done', row_count: 3, size_bytes: 4, created_at: at }],
    ['snapshots', { seq: n, id: `snapshot-${n}`, account_id: account, url_key: url, url, hash: 'hash', text_hash: 'text', first_seen_at: at, last_seen_at: at, times_seen: 2, final_url: url, content_hash: 'body', bytes: 1_000 + n, price: 19.99, record: { name: 'hat' }, job_id: job, task_id: 10 * n + 1, is_private: 0 }],
    ['page_sightings', { seq: n, account_id: account, url_key: url, snapshot_seq: n, job_id: job, task_id: 10 * n + 1, seen_at: at }],
    ['lake_files', { seq: n, id: `file-${n}`, account_id: account, kind: 'pages', domain: 'host.test', date: '2026-01-01', path: 'a.parquet', rows: 1, bytes: 2, schema_version: 1, made_at: at, added_at: at }],
    ['lake_file_jobs', { file_id: `file-${n}`, job_id: job, account_id: account, first_page: 1 }],
    ['lake_resumed_jobs', { job_id: job, account_id: account }],
    ['lake_versions', { account_id: account, version: 3, manifest_version: 2 }],
    ['monitors', { ...owned, seq: n, id: `monitor-${n}`, schedule_id: `schedule-${n}`, name: 'prices', settings: { kind: 'page' }, revision: 1, checks: 4 }],
    ['monitor_pages', { monitor_id: `monitor-${n}`, page_key: 'page', account_id: account, url, state: bytes(n) }],
    ['monitor_checks', { seq: n, monitor_id: `monitor-${n}`, account_id: account, job_id: job, at }],
    ['monitor_changes', { seq: n, id: `change-${n}`, monitor_id: `monitor-${n}`, account_id: account, job_id: job, at, kind: 'changed', url, summary: 'cheaper', data: bytes(n) }],
    ['search_entries', { id: n, account_id: account, url_key: url, host: `host-${n}.test`, job_id: job, page_seq: n, fetched_at: at, words_hash: 'hash', build: 1, words: "'hat':1A" }],
    ['sign_ins', { hash: `sign-in-${n}`, account_id: account, key_id: `key-${n}`, key_hash: `hash-${n}`, created_at: at, used_at: at, idle_ms: 5, expires_at: at }],
    ['sign_in_links', { hash: `link-${n}`, account_id: account, expires_at: at }],
  ];
}
