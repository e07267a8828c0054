import { type Command, Option } from 'commander';
import type { ScheduleRequest } from '../../capabilities/schedules/schedule-request.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { SCHEDULED_KINDS, type ScheduledKind, traitsOfKind } from '../../core/model/job-kinds.ts';
import { CATCH_UPS, OVERLAPS } from '../../core/ports/schedule-store.ts';
import type { Shell } from '../shell/shell.ts';
import { duration, wholeNumber } from './flag-values.ts';
import { given } from './flags.ts';
import { readYamlFile } from './yaml-file.ts';

/** When a schedule runs. */
export interface TimeFlags {
  readonly cron?: string;
  readonly every?: string;
  readonly timeZone?: string;
  readonly activeHours?: string;
  readonly activeDays?: number[];
}
/** Everything that can be said of a schedule. */
export interface RuleFlags extends TimeFlags {
  readonly name?: string;
  readonly file?: string;
  readonly kind?: ScheduledKind;
  readonly maxPages?: number;
  readonly maxDepth?: number;
  readonly jitter?: number;
  readonly overlap?: string;
  readonly catchUp?: string;
}

/** Fields of requests, and the flags that they come from. */
export const SCHEDULE_FLAG_OF = {
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

export const withTimes = (command: Command) =>
  command
    .option('--cron <line>', 'five fields, or six with seconds in front')
    .option('--every <time>', 'the time between two runs, e.g. 15m or 1h30m')
    .option('--time-zone <name>', 'IANA time zone (default: UTC)')
    .option('--active-hours <from-to>', 'only times within these hours, e.g. 08:00-18:00')
    .option('--active-days <days>', 'days of the active hours, 0 is Sunday, e.g. 1,2,3', (text: string) =>
      text.split(',').map(wholeNumber),
    );

export const withRules = (command: Command) =>
  withTimes(command)
    .addOption(new Option('--kind <kind>', 'what each run does with the URLs').choices(SCHEDULED_KINDS))
    .option('--max-pages <n>', 'pages of a crawl at most', wholeNumber)
    .option('--max-depth <n>', 'links that a crawl follows from a URL at most', wholeNumber)
    .option('--jitter <time>', 'begin up to this much later, e.g. 5m', duration)
    .addOption(new Option('--overlap <what>', 'while the job before goes on').choices(OVERLAPS))
    .addOption(new Option('--catch-up <what>', 'after a time without schedulers').choices(CATCH_UPS));

export function timeFields({ cron, every, timeZone, activeHours, activeDays }: TimeFlags): object {
  if (activeHours === undefined && activeDays !== undefined) {
    throw usageError('--active-days needs --active-hours.');
  }
  const [from = '', to = ''] = activeHours?.split('-') ?? [];
  const hours = activeHours === undefined ? undefined : given({ from, to, days: activeDays });
  return given({ cron, every, timeZone, activeHours: hours });
}

/** The request of `schedules create`. Throws INVALID_USAGE with what is missing. */
export function createInput(shell: Shell, name: string, urls: readonly string[], flags: RuleFlags): object {
  const input = { ...ruleFields(shell, urls, flags), name };
  requireTimes(input);
  if (input.job !== undefined) return input;
  const { file } = flags;
  throw usageError(
    file === undefined
      ? 'It has nothing to run: give a URL, or --file with a whole schedule.'
      : `It has nothing to run: give a URL, or \`job\` in ${file}.`,
  );
}

/** The request of `schedules change`. */
export function changeInput(shell: Shell, urls: readonly string[], flags: RuleFlags): object {
  const input = { ...ruleFields(shell, urls, flags), ...given({ name: flags.name }) };
  if (input.cron !== undefined && input.every !== undefined) throw twoTimes();
  if (Object.keys(input).length === 0) {
    throw usageError("Nothing is to be changed: give an option, such as --cron '30 2 * * *'.");
  }
  return input;
}

type RuleFields = Partial<Record<keyof ScheduleRequest, unknown>>;

/** The fields of a file, replaced by those that URLs and flags describe. */
function ruleFields(shell: Shell, urls: readonly string[], flags: RuleFlags): RuleFields {
  const { file, kind, maxPages, maxDepth, jitter: jitterMs, overlap, catchUp, cron, every } = flags;
  const fromFile = (file === undefined ? {} : readYamlFile(shell.cwd, file, '--file').value) as RuleFields;
  const { cron: _, every: __, ...withoutTimes } = fromFile;
  // Times that are given replace those of the file, of whichever kind.
  const kept = cron === undefined && every === undefined ? fromFile : withoutTimes;
  const fields = { ...kept, ...given({ ...timeFields(flags), jitterMs, overlap, catchUp }) };
  if (urls.length > 0 || kind !== undefined) return { ...fields, job: jobOf(urls, flags) };
  if (maxPages !== undefined || maxDepth !== undefined) {
    throw usageError('--max-pages and --max-depth need URLs and --kind crawl; or write them into the file.');
  }
  return fields;
}

const twoTimes = () => usageError('Give --cron or --every, and not both.');

function requireTimes({ cron, every }: RuleFields): void {
  if (cron !== undefined && every !== undefined) throw twoTimes();
  if (cron !== undefined || every !== undefined) return;
  throw usageError("It has no time to run at: give --cron, such as --cron '30 2 * * *', or --every 15m.");
}

/** The job that URLs and flags describe; one of a file is not looked at then. */
function jobOf(urls: readonly string[], { kind: asked, maxPages, maxDepth }: RuleFlags): object {
  const kind = asked ?? (urls.length > 1 ? 'batch' : 'scrape');
  if (urls.length === 0) throw usageError(`--kind ${kind} needs a URL: give it after the name.`);
  const traits = traitsOfKind(kind);
  if (traits.hasOneUrl && urls.length > 1) {
    throw usageError(`A ${kind} has one URL: use --kind batch for several.`);
  }
  if (traits.follows === 'nothing' && (maxPages !== undefined || maxDepth !== undefined)) {
    throw usageError(`--max-pages and --max-depth are for crawls: add --kind crawl.`);
  }
  return given({ kind, ...(traits.hasOneUrl ? { url: urls[0] } : { urls }), maxPages, maxDepth });
}

const usageError = (message: string) => new ScrapifieError('INVALID_USAGE', message);
