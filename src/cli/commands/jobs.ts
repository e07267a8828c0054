import { Option } from 'commander';
import { ruleSentence } from '../../capabilities/jobs/results/outcome-words.ts';
import type { JobView } from '../../capabilities/views/job-view.ts';
import { ERRORS } from '../../core/errors/registry.ts';
import { microcreditsOf } from '../../core/model/credits.ts';
import { type Budgets, JOB_STATUSES, type Job } from '../../core/model/job.ts';
import { isReasonOf } from '../../core/model/reasons.ts';
import { type LedgerEntry, TASK_STATES, type TaskState } from '../../core/model/task.ts';
import { describeBytes, describeCount, describeMs, describeTime } from '../../lib/human-units.ts';
import { withBackend } from '../backend/open-backend.ts';
import {
  jsonLine,
  type ListFlags,
  limitOption,
  mostOf,
  type SubcommandFlags,
  subcommandsOn,
} from '../backend/subcommands.ts';
import { type Limit, limitOf } from '../flags/flag-values.ts';
import { FLAGS, given, withAccountFlags } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import type { Screen } from '../output/screen.ts';
import { eventLine } from '../output/summaries.ts';
import { details, table } from '../output/table.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface JobListFlags extends ListFlags {
  readonly status?: Job['status'];
}
/** What a job may use from now on, with what it has used; a limit that is not named stays. */
interface ResumeFlags extends SubcommandFlags {
  readonly maxPages?: Limit;
  readonly maxBytes?: Limit;
  readonly maxDuration?: Limit;
  readonly maxBrowserTime?: Limit;
  readonly maxProxyBytes?: Limit;
  readonly maxCredits?: Limit;
}
interface UrlsFlags extends SubcommandFlags {
  readonly state?: TaskState;
}

const LIMIT_FLAGS = [
  'maxPages',
  'maxBytes',
  'maxDuration',
  'maxBrowserTime',
  'maxProxyBytes',
  'maxCredits',
] as const;

const EXAMPLES = `
ID is one that "jobs list" shows, or "latest". Works on the data folder itself, also while a server or a crawl runs on it:
it notices within a second or so. With --api it works on a running server.

Examples:
  scrapifie jobs list
  scrapifie jobs show latest
  scrapifie jobs watch latest
  scrapifie jobs cancel latest
  scrapifie jobs resume 0197… --max-pages 2000
  scrapifie jobs retry 0197…
  scrapifie jobs delete 0197…
  scrapifie jobs errors latest
  scrapifie jobs urls 0197… --state denied
  scrapifie jobs list --data-dir ./crawl-example.com`;

export const define: DefineCommand = (command, shell) => {
  const print = (text: string): void => void shell.stdout.write(text);
  const { add, addOn, run } = subcommandsOn(command, shell, {
    name: 'jobs',
    noun: 'Job',
    argument: '<id>',
    withFlags: withAccountFlags,
  });
  command.addHelpText('afterAll', helpBelow(EXAMPLES));

  add('list', 'newest first')
    .addOption(new Option('--status <status>', 'only jobs of this status').choices(JOB_STATUSES))
    .addOption(limitOption('jobs'))
    .action((flags: JobListFlags) =>
      run(flags, (jobs) => jobs.list({ status: flags.status, limit: mostOf(flags) }), listing),
    );
  addOn('show', 'one job in full', (jobs, id) => jobs.get(id), describe);
  addOn('cancel', 'drop URLs that have not begun', (jobs, id) => jobs.cancel(id), describe);
  const resume = add('resume <id>', 'go on with the URLs that a cancel or a limit left out');
  for (const flag of LIMIT_FLAGS) resume.addOption(FLAGS[flag]());
  resume.action((id: string, flags: ResumeFlags) =>
    run(flags, (jobs) => jobs.resume(id, budgetsOf(flags)), describe),
  );
  addOn('retry', 'try failed URLs again', (jobs, id) => jobs.retry(id), describe);
  addOn(
    'delete',
    'remove a job that has ended, with its pages and URLs',
    async (jobs, id) => ({ id: await jobs.delete(id), deleted: true }),
    (_screen, { id }) => `Job ${id} is deleted.\n`,
  );
  add('urls <id>', 'every URL the job has seen, and the rule that decided')
    .addOption(new Option('--state <state>', 'only URLs in this state').choices(TASK_STATES))
    .action((id: string, flags: UrlsFlags) =>
      withBackend(shell, flags, async ({ jobs }) => {
        for await (const entry of jobs.urls(id, flags.state)) {
          print(flags.json ? jsonLine(entry) : urlLine(entry));
        }
      }),
    );
  add('watch <id>', 'what happens to the job, until it has ended').action(
    (id: string, flags: SubcommandFlags) =>
      withBackend(shell, flags, async ({ jobs }) => {
        for await (const event of jobs.events(id)) print(flags.json ? jsonLine(event) : eventLine(event));
      }),
  );
  add('errors <id>', 'URLs that failed or were denied, with the reason').action(
    (id: string, flags: SubcommandFlags) =>
      withBackend(shell, flags, async ({ jobs }) => {
        for await (const error of jobs.errors(id)) {
          print(flags.json ? jsonLine(error) : `${error.code}  ${error.url}  ${error.message}\n`);
        }
      }),
  );
};

function budgetsOf(flags: ResumeFlags): Partial<Budgets> {
  const maxCredits = limitOf(flags.maxCredits);
  return given({
    maxPages: limitOf(flags.maxPages),
    maxBytes: limitOf(flags.maxBytes),
    maxDurationMs: limitOf(flags.maxDuration),
    maxBrowserMs: limitOf(flags.maxBrowserTime),
    maxProxyBytes: limitOf(flags.maxProxyBytes),
    maxMicrocredits: typeof maxCredits === 'number' ? microcreditsOf(maxCredits) : maxCredits,
  }) as Partial<Budgets>;
}

function listing(screen: Screen, jobs: readonly JobView[]): string {
  if (jobs.length === 0) return 'There are no jobs.\n';
  return table(screen, [
    ['ID', 'KIND', 'STATUS', 'PAGES', 'FAILED', 'OPEN', 'CREATED', 'START'],
    ...jobs.map(({ id, kind, status, progress, createdAt, seeds }) => [
      id,
      kind,
      statusWords(status),
      String(progress.pages),
      String(progress.failed),
      String(progress.open),
      timeOf(createdAt),
      seeds[0] ?? '',
    ]),
  ]);
}

const statusWords = (status: string): string => status.replaceAll('_', ' ');
const timeOf = (at: string | null | undefined): string => (at ? describeTime(at) : '–');

const SHOWN_SEEDS = 3;

function startOf({ seeds }: JobView): string {
  const more = seeds.length - SHOWN_SEEDS;
  return [...seeds.slice(0, SHOWN_SEEDS), ...(more > 0 ? [`and ${more} more`] : [])].join(' ');
}

function finishOf({ startedAt, finishedAt }: JobView): string {
  if (!finishedAt) return '–';
  const took = startedAt ? `, after ${describeMs(Date.parse(finishedAt) - Date.parse(startedAt))}` : '';
  return `${describeTime(finishedAt)}${took}`;
}

/** How many URLs the job knows, and what became of them; kinds that there are none of are left out. */
function urlCounts({ known, open, done, failed, skipped, denied, cancelled }: JobView['progress']): string {
  const parts = Object.entries({ done, failed, skipped, denied, cancelled, open }).filter(
    ([, count]) => count > 0,
  );
  const told = parts.map(([name, count]) => `${count.toLocaleString('en')} ${name}`);
  return [`${known.toLocaleString('en')} known`, ...told].join(', ');
}

function describe(screen: Screen, job: JobView): string {
  const { progress } = job;
  return details(screen, [
    ['id', job.id],
    ['kind', job.kind],
    ['status', statusWords(job.status)],
    ...(job.stopMessage === null ? [] : [['stopped', `${job.stopMessage} [${job.stopReason}]`]]),
    ['start', startOf(job)],
    ['created', timeOf(job.createdAt)],
    ['started', timeOf(job.startedAt)],
    ['finished', finishOf(job)],
    ['pages', `${describeCount(progress.pages, 'page')}, ${describeBytes(progress.bytes)}`],
    ['URLs', urlCounts(progress)],
    ...(progress.browserMs === 0 ? [] : [['browsers', describeMs(progress.browserMs)]]),
    ...(progress.proxyBytes === 0 ? [] : [['proxies', describeBytes(progress.proxyBytes)]]),
    ...(job.waitingFor ?? []).map(({ code, message, tasks }) => [
      'waits',
      `${message} (${describeCount(tasks, 'URL')}) [${code}]`,
    ]),
  ]);
}

function urlLine(entry: LedgerEntry): string {
  const { state, depth, url, rule, errorCode } = entry;
  const codes = [errorCode, rule].filter((part) => part !== null).join(' ');
  const isGeneral = rule === null || isReasonOf(rule, 'attempt');
  const sentence =
    errorCode !== null && isGeneral ? ERRORS[errorCode].meaning : ruleSentence(rule, entry, null);
  const why = codes === '' ? '' : `  ${sentence ?? ''} [${codes}]`;
  return `${state.padEnd(9)}  ${String(depth).padStart(2)}  ${url}${why}\n`;
}
