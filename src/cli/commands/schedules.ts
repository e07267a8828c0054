import { Option } from 'commander';
import type { NextView, RunView, ScheduleView } from '../../api/views/schedule-view.ts';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { CATCH_UPS, OVERLAPS, SCHEDULED_KINDS } from '../../model/schedule.ts';
import {
  previewRequestSchema,
  type ScheduleRequest,
  scheduleRequestSchema,
} from '../../schedules/schedule-request.ts';
import { MOST_LISTED } from '../backend/backend.ts';
import { type BackendFlags, withBackend } from '../backend/open-backend.ts';
import type { BackendSchedules } from '../backend/schedule-backend.ts';
import { duration, given, parseFlags, wholeNumber, withAccountFlags } from '../flags/flags.ts';
import { readYamlFile } from '../flags/yaml-file.ts';
import { table } from '../output/table.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface SchedulesFlags extends BackendFlags {
  readonly json?: true;
}
interface ListFlags extends SchedulesFlags {
  readonly limit: number;
}
interface TimeFlags extends SchedulesFlags {
  readonly cron?: string;
  readonly every?: string;
  readonly timeZone?: string;
  readonly activeHours?: string;
  readonly activeDays?: number[];
}
interface CreateFlags extends TimeFlags {
  readonly file?: string;
  readonly kind?: string;
  readonly maxPages?: number;
  readonly maxDepth?: number;
  readonly jitter?: number;
  readonly overlap?: string;
  readonly catchUp?: string;
}

const FLAG_OF = {
  name: 'The name',
  cron: '--cron',
  every: '--every',
  timeZone: '--time-zone',
  activeHours: '--active-hours',
  jitterMs: '--jitter',
  overlap: '--overlap',
  catchUp: '--catch-up',
  'job.kind': '--kind',
  'job.urls': 'URL',
  'job.url': 'URL',
  'job.maxPages': '--max-pages',
  'job.maxDepth': '--max-depth',
};

const EXAMPLES = `
SCHEDULE is an id that "list" shows, or a name that one schedule has. A running server runs them; see docs/schedules.md.
A file holds what POST /v1/schedules takes, in YAML or JSON.

Examples:
  scrapifie schedules create news https://example.com/ --kind crawl --max-pages 200 --cron '30 2 * * *' --time-zone Europe/Berlin
  scrapifie schedules create prices --file prices.yaml
  scrapifie schedules preview --cron '0 9 * * MON#1' --time-zone America/New_York
  scrapifie schedules next news
  scrapifie schedules history news
  scrapifie schedules run news`;

export const define: DefineCommand = (command, shell) => {
  const print = (text: string): void => void shell.stdout.write(text);
  const add = (name: string, summary: string) => withAccountFlags(command.command(name).description(summary));
  command.addHelpText('after', EXAMPLES);
  /** A subcommand on one schedule. */
  const addOn = <T>(
    name: string,
    summary: string,
    action: (schedules: BackendSchedules, id: string) => Promise<T>,
    text: (result: T) => string,
  ) =>
    add(`${name} <schedule>`, summary).action((named: string, flags: SchedulesFlags) =>
      withBackend(shell, flags, async ({ schedules }) => {
        const result = await action(schedules, await idOf(schedules, named));
        print(flags.json ? jsonLine(result) : text(result));
      }),
    );

  add('list', 'newest first')
    .addOption(new Option('--limit <n>', 'schedules to show at most').default(20).argParser(wholeNumber))
    .action((flags: ListFlags) =>
      withBackend(shell, flags, async ({ schedules }) => {
        const views = await schedules.list(Math.min(MOST_LISTED, Math.max(1, flags.limit)));
        print(flags.json ? views.map(jsonLine).join('') : listing(views));
      }),
    );
  withTimes(add('create <name> [url...]', 'run a job again and again'))
    .option('--file <path>', 'a file with the whole schedule; other options go before what it says')
    .addOption(new Option('--kind <kind>', 'what each run does with the URLs').choices(SCHEDULED_KINDS))
    .option('--max-pages <n>', 'pages of a crawl at most', wholeNumber)
    .option('--max-depth <n>', 'links that a crawl follows from a URL at most', wholeNumber)
    .option('--jitter <time>', 'begin up to this much later, e.g. 5m', duration)
    .addOption(new Option('--overlap <what>', 'while the job before goes on').choices(OVERLAPS))
    .addOption(new Option('--catch-up <what>', 'after a time without schedulers').choices(CATCH_UPS))
    .action((name: string, urls: string[], flags: CreateFlags) => {
      const input = createInput(shell, name, urls, flags);
      parseFlags(scheduleRequestSchema, input, FLAG_OF);
      return withBackend(
        shell,
        flags,
        async ({ schedules }) => {
          const view = await schedules.create(input as ScheduleRequest);
          print(
            flags.json ? jsonLine(view) : `Schedule ${view.id} is made; it runs next at ${view.nextRunAt}.\n`,
          );
        },
        true,
      );
    });
  withTimes(add('preview', 'the next ten times of a cron line or an interval')).action((flags: TimeFlags) => {
    const request = parseFlags(previewRequestSchema, timeFields(flags), FLAG_OF);
    return withBackend(
      shell,
      flags,
      async ({ schedules }) => {
        const view = await schedules.preview(request);
        print(flags.json ? jsonLine(view) : times(view));
      },
      true,
    );
  });
  addOn('show', 'one schedule in full', (schedules, id) => schedules.get(id), describe);
  addOn('next', 'its next ten times', (schedules, id) => schedules.next(id), times);
  addOn('pause', 'do not run it until "resume"', (schedules, id) => schedules.pause(id), describe);
  addOn('resume', 'go on with a paused one', (schedules, id) => schedules.resume(id), describe);
  addOn(
    'run',
    'run it now, as well as at its times',
    (schedules, id) => schedules.run(id),
    ({ status, jobId, reason }) =>
      jobId === null ? `The run is ${status}: ${reason}.\n` : `Job ${jobId} has begun.\n`,
  );
  add('history <schedule>', 'its runs, newest first, with jobs and reasons')
    .addOption(new Option('--limit <n>', 'entries to show at most').default(20).argParser(wholeNumber))
    .action((named: string, flags: ListFlags) =>
      withBackend(shell, flags, async ({ schedules }) => {
        const limit = Math.min(MOST_LISTED, Math.max(1, flags.limit));
        const runs = await schedules.history(await idOf(schedules, named), limit);
        print(flags.json ? runs.map(jsonLine).join('') : history(runs));
      }),
    );
  addOn(
    'delete',
    'with its history; its jobs stay',
    async (schedules, id) => {
      await schedules.delete(id);
      return { id, deleted: true };
    },
    ({ id }) => `Schedule ${id} is deleted.\n`,
  );
};

const withTimes = (command: ReturnType<typeof withAccountFlags>) =>
  command
    .option('--cron <line>', 'five fields, or six with seconds in front')
    .option('--every <time>', 'the time between two runs, e.g. 15m or 1h30m')
    .option('--time-zone <name>', 'IANA time zone (default: UTC)')
    .option('--active-hours <from-to>', 'only times within these hours, e.g. 08:00-18:00')
    .option('--active-days <days>', 'days of the active hours, 0 is Sunday, e.g. 1,2,3', (text: string) =>
      text.split(',').map(wholeNumber),
    );

function timeFields({ cron, every, timeZone, activeHours, activeDays }: TimeFlags): object {
  if (activeHours === undefined && activeDays !== undefined) {
    throw new ScrapifieError('INVALID_USAGE', '--active-days needs --active-hours.');
  }
  const [from = '', to = ''] = activeHours?.split('-') ?? [];
  const hours = activeHours === undefined ? undefined : given({ from, to, days: activeDays });
  return given({ cron, every, timeZone, activeHours: hours });
}

function createInput(shell: Shell, name: string, urls: readonly string[], flags: CreateFlags): object {
  const { file, kind, maxPages, maxDepth, jitter: jitterMs, overlap, catchUp } = flags;
  const fromFile = (
    file === undefined ? {} : readYamlFile(shell.cwd, file, '--file').value
  ) as Partial<ScheduleRequest>;
  const rest = given({ ...timeFields(flags), jitterMs, overlap, catchUp });
  if (urls.length === 0 && kind === undefined) return { ...fromFile, name, ...rest };
  const chosen = kind ?? (urls.length === 1 ? 'scrape' : 'batch');
  const start = chosen === 'scrape' ? { url: urls[0], ...(urls.length > 1 ? { urls } : {}) } : { urls };
  return { ...fromFile, name, ...rest, job: given({ kind: chosen, ...start, maxPages, maxDepth }) };
}

const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** The id of the schedule that is meant by its id or its name. */
async function idOf(schedules: BackendSchedules, named: string): Promise<string> {
  if (ID.test(named)) return named;
  const found = (await schedules.list(MOST_LISTED)).filter(({ name }) => name === named);
  const [schedule, ...more] = found;
  if (schedule === undefined) throw new ScrapifieError('NOT_FOUND', `There is no schedule "${named}".`);
  if (more.length > 0) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      `${found.length} schedules have the name "${named}": give an id.`,
    );
  }
  return schedule.id;
}

const jsonLine = (value: unknown) => `${JSON.stringify(value)}\n`;
const timingOf = ({ cron, everyMs }: ScheduleView) => cron ?? `every ${(everyMs ?? 0) / 1_000} s`;

function listing(views: readonly ScheduleView[]): string {
  if (views.length === 0) return 'There are no schedules.\n';
  return table([
    ['ID', 'NAME', 'STATUS', 'WHEN', 'ZONE', 'KIND', 'NEXT RUN'],
    ...views.map((view) => [
      view.id,
      view.name,
      view.status,
      timingOf(view),
      view.timeZone,
      view.job.kind,
      view.nextRunAt ?? '–',
    ]),
  ]);
}

function describe(view: ScheduleView): string {
  const { activeHours: hours } = view;
  return table([
    ['id', view.id],
    ['name', view.name],
    ['status', view.status],
    ['when', `${timingOf(view)} (${view.timeZone})`],
    ['active', hours === null ? 'always' : `${hours.from}-${hours.to} ${hours.days.join(',')}`.trim()],
    ['jitter', `${view.jitterMs} ms`],
    ['overlap', view.overlap],
    ['catch up', view.catchUp],
    ['next run', view.nextRunAt ?? '–'],
    ['created', view.createdAt],
    ['job', JSON.stringify(view.job)],
  ]);
}

const times = ({ timeZone, items }: NextView) =>
  table([['UTC', timeZone, 'RUNS AT'], ...items.map(({ at, local, runsAt }) => [at, local, runsAt])]);

function history(runs: readonly RunView[]): string {
  if (runs.length === 0) return 'It has not run yet.\n';
  return table([
    ['AT', 'BY', 'STATUS', 'JOB', 'JOB STATUS', 'REASON'],
    ...runs.map(({ at, trigger, status, isLate, jobId, jobStatus, reason, missed }) => [
      at,
      trigger,
      isLate && status === 'started' ? 'started late' : status,
      jobId ?? '–',
      jobStatus ?? '–',
      missed === null ? (reason ?? '') : `${missed.count} until ${missed.lastAt}: ${reason}`,
    ]),
  ]);
}
