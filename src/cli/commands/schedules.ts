import {
  previewRequestSchema,
  type ScheduleChangeRequest,
  type ScheduleRequest,
  scheduleChangeSchema,
  scheduleRequestSchema,
} from '../../capabilities/schedules/schedule-request.ts';
import type { NextView, RunView, ScheduleView } from '../../capabilities/views/schedule-view.ts';
import type { BackendSchedules } from '../backend/backend.ts';
import {
  idNamed,
  type ListFlags,
  limitOption,
  mostOf,
  type SubcommandFlags,
  subcommandsOn,
} from '../backend/subcommands.ts';
import { parseFlags, withAccountFlags } from '../flags/flags.ts';
import {
  changeInput,
  createInput,
  type RuleFlags,
  SCHEDULE_FLAG_OF,
  type TimeFlags,
  timeFields,
  withRules,
  withTimes,
} from '../flags/schedule-flags.ts';
import { helpBelow } from '../output/help.ts';
import type { Screen } from '../output/screen.ts';
import { intervalText } from '../output/summaries.ts';
import { details, table } from '../output/table.ts';
import type { DefineCommand } from '../shell/shell.ts';

const EXAMPLES = `
SCHEDULE is an id that "list" shows, or a name that one schedule has. A running server runs them; see docs/schedules.md.
A file holds what POST /v1/schedules takes, in YAML or JSON.

Examples:
  scrapifie schedules create news https://example.com/ --kind crawl --max-pages 200 --cron '30 2 * * *' --time-zone Europe/Berlin
  scrapifie schedules create prices --file prices.yaml
  scrapifie schedules preview --cron '0 9 * * MON#1' --time-zone America/New_York
  scrapifie schedules change news --cron '0 4 * * *' --overlap queue
  scrapifie schedules next news
  scrapifie schedules history news
  scrapifie schedules run news
  scrapifie schedules list
  scrapifie schedules show news
  scrapifie schedules pause news
  scrapifie schedules resume news
  scrapifie schedules delete news`;

export const define: DefineCommand = (command, shell) => {
  command.addHelpText('afterAll', helpBelow(EXAMPLES));
  const { add, addOn, addDelete, run } = subcommandsOn(command, shell, {
    name: 'schedules',
    noun: 'Schedule',
    argument: '<schedule>',
    withFlags: withAccountFlags,
    idOf,
  });

  add('list', 'newest first')
    .addOption(limitOption('schedules'))
    .action((flags: ListFlags) => run(flags, (schedules) => schedules.list(mostOf(flags)), listing));
  withRules(add('create <name> [url...]', 'run a job again and again'))
    .option('--file <path>', 'a file with the whole schedule; other options go before what it says')
    .action((name: string, urls: string[], flags: SubcommandFlags & RuleFlags) => {
      const input = createInput(shell, name, urls, flags);
      parseFlags(scheduleRequestSchema, input, SCHEDULE_FLAG_OF);
      return run(
        flags,
        (schedules) => schedules.create(input as ScheduleRequest),
        (_screen, { id, nextRunAt }) => `Schedule ${id} is made; it runs next at ${nextRunAt}.\n`,
        true,
      );
    });
  withRules(add('change <schedule> [url...]', 'change what is given; everything else stays'))
    .option('--name <name>', 'another name')
    .option('--file <path>', 'a file with what is to be changed; other options go before what it says')
    .action((named: string, urls: string[], flags: SubcommandFlags & RuleFlags) => {
      const input = changeInput(shell, urls, flags);
      parseFlags(scheduleChangeSchema, input, SCHEDULE_FLAG_OF);
      const change = async (schedules: BackendSchedules) =>
        schedules.change(await idOf(schedules, named), input as ScheduleChangeRequest);
      return run(flags, change, describe);
    });
  withTimes(add('preview', 'the next ten times of a cron line or an interval')).action(
    (flags: SubcommandFlags & TimeFlags) => {
      const request = parseFlags(previewRequestSchema, timeFields(flags), SCHEDULE_FLAG_OF);
      return run(flags, (schedules) => schedules.preview(request), times, true);
    },
  );
  addOn('show', 'one schedule in full', (schedules, id) => schedules.get(id), describe);
  addOn('next', 'its next ten times', (schedules, id) => schedules.next(id), times);
  addOn('pause', 'do not run it until "resume"', (schedules, id) => schedules.pause(id), describe);
  addOn('resume', 'go on with a paused one', (schedules, id) => schedules.resume(id), describe);
  addOn(
    'run',
    'run it now, as well as at its times',
    (schedules, id) => schedules.run(id),
    (_screen, { status, jobId, reason }) =>
      jobId === null ? `The run is ${status}: ${reason}.\n` : `Job ${jobId} has begun.\n`,
  );
  add('history <schedule>', 'its runs, newest first, with jobs and reasons')
    .addOption(limitOption('entries'))
    .action((named: string, flags: ListFlags) =>
      run(
        flags,
        async (schedules) => schedules.history(await idOf(schedules, named), mostOf(flags)),
        history,
      ),
    );
  addDelete('with its history; its jobs stay', 'id', (schedules, id) => schedules.delete(id));
};

const idOf = (schedules: BackendSchedules, given: string) => idNamed(given, 'schedule', schedules);
const timingOf = ({ cron, everyMs }: ScheduleView) => cron ?? `every ${intervalText(everyMs ?? 0)}`;

function listing(screen: Screen, views: readonly ScheduleView[]): string {
  if (views.length === 0) return 'There are no schedules.\n';
  return table(screen, [
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

function describe(screen: Screen, view: ScheduleView): string {
  const { activeHours: hours } = view;
  return details(screen, [
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

const times = (screen: Screen, { timeZone, items }: NextView) =>
  table(screen, [['UTC', timeZone, 'RUNS AT'], ...items.map(({ at, local, runsAt }) => [at, local, runsAt])]);

function history(screen: Screen, runs: readonly RunView[]): string {
  if (runs.length === 0) return 'It has not run yet.\n';
  return table(screen, [
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
