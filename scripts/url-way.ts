/**
 * The files that a URL passes, from the request for a crawl to the row of an export, in the order in which they run: in one
 * process, without a browser, a proxy or a language model. A file stands again where the work comes back to it.
 * Code of lib, which knows nothing of URLs, is left out, and so are modules that only start a thread.
 * docs/architecture.md tells the first ten steps in words, and names the same files.
 */
export const URL_WAY: readonly { readonly step: string; readonly files: readonly string[] }[] = [
  {
    step: '1 accepted',
    files: [
      'src/http/api.ts',
      'src/http/access/access.ts',
      'src/http/routes/start-jobs.ts',
      'src/http/server/kept-answers.ts',
      'src/capabilities/jobs/jobs.ts',
      'src/capabilities/jobs/accept/job-draft.ts',
      'src/capabilities/jobs/accept/seeds.ts',
      'src/crawl/frontier/canonical.ts',
      'src/crawl/frontier/scope.ts',
      'src/capabilities/jobs/accept/accept-job.ts',
      'src/capabilities/jobs/accept/request-refusal.ts',
      'src/capabilities/jobs/accept/account-intake.ts',
      'src/capabilities/sessions/job-secrets.ts',
      'src/capabilities/jobs/accept/job-cost.ts',
      'src/drivers/store-sqlite/sqlite-store.ts',
      'src/drivers/store-sqlite/thread.ts',
      'src/drivers/store-sqlite/jobs.ts',
      'src/drivers/store-sqlite/mailboxes.ts',
      'src/drivers/store-sqlite/job-life.ts',
      'src/wiring/platform.ts',
      'src/capabilities/jobs/accept/accept-job.ts',
    ],
  },
  { step: '2 offered', files: ['src/drivers/queue-local/queue-local.ts'] },
  {
    step: '3 owned',
    files: [
      'src/crawl/host/owner/host-worker.ts',
      'src/drivers/store-sqlite/hosts.ts',
      'src/crawl/host/owner/slice.ts',
      'src/crawl/host/owner/mailbox.ts',
      'src/drivers/store-sqlite/claims.ts',
      'src/crawl/host/process/running-job.ts',
      'src/crawl/host/owner/task-starter.ts',
    ],
  },
  {
    step: '4 admitted',
    files: [
      'src/crawl/host/owner/stored-answers.ts',
      'src/crawl/host/admission/task-admission.ts',
      'src/crawl/policy/policies.ts',
      'src/crawl/robots/robots-cache.ts',
      'src/crawl/host/admission/robots-loader.ts',
      'src/crawl/host/admission/task-admission.ts',
      'src/crawl/host/process/slots.ts',
      'src/crawl/host/access/gated-host-access.ts',
      'src/crawl/host/access/access-side.ts',
      'src/crawl/politeness/gate.ts',
      'src/crawl/host/process/quarantine.ts',
    ],
  },
  {
    step: '5 planned',
    files: [
      'src/crawl/host/attempt/make-attempt.ts',
      'src/crawl/frontier/routes.ts',
      'src/crawl/host/attempt/plan-attempt.ts',
      'src/crawl/plan/ladder/ladder.ts',
      'src/crawl/host/attempt/prepare-attempt.ts',
      'src/crawl/host/attempt/plan-attempt.ts',
      'src/crawl/plan/proxies/proxy-pool.ts',
    ],
  },
  {
    step: '6 fetched',
    files: [
      'src/crawl/host/attempt/fetch-task.ts',
      'src/fetch/http/http-engine.ts',
      'src/fetch/http/redirects.ts',
      'src/fetch/http/exchange.ts',
      'src/fetch/guard/guarded-lookup.ts',
      'src/crawl/host/access/gated-host-access.ts',
      'src/crawl/politeness/host-state.ts',
    ],
  },
  {
    step: '7 read',
    files: [
      'src/crawl/host/attempt/finish-task.ts',
      'src/crawl/read/reader-pool.ts',
      'src/crawl/read/page-thread.ts',
      'src/crawl/read/read-page.ts',
      'src/extract/charset/charset.ts',
      'src/extract/scan/extract-page.ts',
      'src/fetch/classify/classify.ts',
      'src/crawl/read/find-tasks.ts',
      'src/core/model/page-record.ts',
      'src/drivers/blobs-fs/blobs-fs.ts',
    ],
  },
  {
    step: '8 decided',
    files: [
      'src/crawl/plan/outcome.ts',
      'src/crawl/host/process/task-end.ts',
      'src/crawl/host/attempt/finish-task.ts',
      'src/crawl/plan/ladder/host-memory.ts',
    ],
  },
  {
    step: '9 committed',
    files: [
      'src/crawl/host/owner/task-ends.ts',
      'src/crawl/host/process/login-walls.ts',
      'src/crawl/ledger/ledger.ts',
      'src/drivers/store-sqlite/ledger.ts',
      'src/drivers/store-sqlite/usage.ts',
      'src/drivers/store-sqlite/event-log.ts',
      'src/crawl/frontier/known-urls.ts',
    ],
  },
  { step: '10 published', files: ['src/wiring/crawler.ts'] },
  {
    step: 'exported',
    files: [
      'src/http/routes/exports.ts',
      'src/capabilities/exports/exports.ts',
      'src/capabilities/exports/export-worker.ts',
      'src/wiring/open-exports.ts',
      'src/wiring/export-thread.ts',
      'src/capabilities/exports/write-export.ts',
      'src/capabilities/exports/sources/open-table.ts',
      'src/capabilities/exports/sources/page-tables.ts',
      'src/core/model/page-record.ts',
      'src/capabilities/exports/writers/csv.ts',
      'src/drivers/files-fs/files-fs.ts',
    ],
  },
];

/** How often the way goes on in another folder, by the first `depth` folders below `src`. */
export function folderChanges(files: readonly string[], depth: number): number {
  const folders = files.map((path) => path.split('/').slice(1, -1).slice(0, depth).join('/'));
  return folders.filter((folder, at) => at > 0 && folder !== folders[at - 1]).length;
}
