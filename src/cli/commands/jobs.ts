import { Option } from 'commander';
import { jobView } from '../../api/views/job-view.ts';
import type { Waiting } from '../../jobs/waiting.ts';
import { JOB_STATUSES, type Job } from '../../model/job.ts';
import { type LedgerEntry, TASK_STATES, type TaskState } from '../../model/task.ts';
import { FLAGS, wholeNumber } from '../flags/flags.ts';
import { withJobs } from '../folders/data-folder.ts';
import { table } from '../output/table.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface JobsFlags {
  readonly dataDir?: string;
  readonly json?: true;
}
interface ListFlags extends JobsFlags {
  readonly status?: Job['status'];
  readonly limit: number;
}
interface UrlsFlags extends JobsFlags {
  readonly state?: TaskState;
}

const MOST_SHOWN = 1_000;

const EXAMPLES = `
Works on the data folder itself, also while a server or a crawl runs on it: it notices within a second or so.

Examples:
  scrapifie jobs list
  scrapifie jobs show 0197…
  scrapifie jobs urls 0197… --state denied
  scrapifie jobs list --data-dir ./crawl-example.com`;

export const define: DefineCommand = (command, shell) => {
  const print = (text: string): void => void shell.stdout.write(text);
  const add = (name: string, summary: string) =>
    command.command(name).description(summary).addOption(FLAGS.dataDir()).addOption(FLAGS.json());
  const show = (job: Job, { json }: JobsFlags, waiting?: readonly Waiting[]): void =>
    print(json ? jsonLine(jobView(job, waiting)) : describe(job, waiting));
  command.addHelpText('after', EXAMPLES);

  add('list', 'newest first')
    .addOption(new Option('--status <status>', 'only jobs of this status').choices(JOB_STATUSES))
    .addOption(new Option('--limit <n>', 'jobs to show at most').default(20).argParser(wholeNumber))
    .action((flags: ListFlags) =>
      withJobs(shell, flags.dataDir, async ({ jobs, account }) => {
        const limit = Math.min(MOST_SHOWN, Math.max(1, flags.limit));
        const { items } = await jobs.list({ accountId: account, status: flags.status, limit });
        print(flags.json ? items.map((job) => jsonLine(jobView(job))).join('') : listing(items));
      }),
    );
  add('show <id>', 'one job in full').action((id: string, flags: JobsFlags) =>
    withJobs(shell, flags.dataDir, async ({ jobs, account }) => {
      const job = await jobs.get(id, account);
      show(job, flags, await jobs.waitingFor(job));
    }),
  );
  add('cancel <id>', 'drop URLs that have not begun').action((id: string, flags: JobsFlags) =>
    withJobs(shell, flags.dataDir, async ({ jobs, account }) => show(await jobs.cancel(id, account), flags)),
  );
  add('resume <id>', 'go on with the URLs that a cancel or a budget dropped').action(
    (id: string, flags: JobsFlags) =>
      withJobs(shell, flags.dataDir, async ({ jobs, account }) =>
        show(await jobs.resume(id, account), flags),
      ),
  );
  add('retry <id>', 'try failed URLs again').action((id: string, flags: JobsFlags) =>
    withJobs(shell, flags.dataDir, async ({ jobs, account }) => show(await jobs.retry(id, account), flags)),
  );
  add('urls <id>', 'every URL the job has seen, and the rule that decided')
    .addOption(new Option('--state <state>', 'only URLs in this state').choices(TASK_STATES))
    .action((id: string, flags: UrlsFlags) =>
      withJobs(shell, flags.dataDir, async ({ jobs, account }) => {
        const job = await jobs.get(id, account);
        for await (const entry of jobs.read.eachUrl(job, flags.state)) {
          print(flags.json ? jsonLine(entry) : urlLine(entry));
        }
      }),
    );
  add('errors <id>', 'URLs that failed, with the reason').action((id: string, flags: JobsFlags) =>
    withJobs(shell, flags.dataDir, async ({ jobs, account }) => {
      const job = await jobs.get(id, account);
      let cursor: string | undefined;
      do {
        const slice = await jobs.read.errors(job, { state: 'failed', cursor, limit: MOST_SHOWN });
        for (const error of slice.items) {
          print(flags.json ? jsonLine(error) : `${error.code}  ${error.url}  ${error.message}\n`);
        }
        cursor = slice.nextCursor ?? undefined;
      } while (cursor !== undefined);
    }),
  );
};

const jsonLine = (value: unknown) => `${JSON.stringify(value)}\n`;
const iso = (at: number | null) => (at === null ? '–' : new Date(at).toISOString());

function listing(jobs: readonly Job[]): string {
  if (jobs.length === 0) return 'There are no jobs.\n';
  return table([
    ['ID', 'KIND', 'STATUS', 'PAGES', 'FAILED', 'OPEN', 'CREATED', 'START'],
    ...jobs.map(({ id, kind, status, counters, createdAt, seeds }) => [
      id,
      kind,
      status,
      String(counters.pages),
      String(counters.failed),
      String(counters.open),
      iso(createdAt),
      seeds[0] ?? '',
    ]),
  ]);
}

function describe(job: Job, waiting: readonly Waiting[] = []): string {
  const { counters } = job;
  return table([
    ['id', job.id],
    ['kind', job.kind],
    ['status', job.stopReason === null ? job.status : `${job.status} (${job.stopReason})`],
    ['start', job.seeds.slice(0, 3).join(' ')],
    ['created', iso(job.createdAt)],
    ['started', iso(job.startedAt)],
    ['finished', iso(job.finishedAt)],
    ...Object.entries(counters).map(([name, value]) => [name, String(value)]),
    ...waiting.map(({ code, message, tasks }) => ['waits', `${message} (${code}, ${tasks} URLs)`]),
  ]);
}

function urlLine({ state, depth, url, rule, errorCode }: LedgerEntry): string {
  const why = [errorCode, rule].filter((part) => part !== null).join(' ');
  return `${state.padEnd(9)}  ${String(depth).padStart(2)}  ${url}${why === '' ? '' : `  (${why})`}\n`;
}
