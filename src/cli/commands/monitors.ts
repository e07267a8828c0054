import { Option } from 'commander';
import { monitorRequestSchema } from '../../capabilities/monitors/monitor-request.ts';
import type { MonitorChangeView, MonitorView } from '../../capabilities/views/monitor-view.ts';
import { CHANGE_KINDS, type ChangeKind } from '../../core/model/monitor.ts';
import { describeCount } from '../../lib/human-units.ts';
import type { BackendMonitors } from '../backend/backend.ts';
import {
  idNamed,
  type ListFlags,
  limitOption,
  mostOf,
  type SubcommandFlags,
  subcommandsOn,
} from '../backend/subcommands.ts';
import { given, parseFlags, withAccountFlags } from '../flags/flags.ts';
import {
  MONITOR_FLAG_OF,
  type MonitorFlags,
  monitorInput,
  withMonitorFlags,
} from '../flags/monitor-flags.ts';
import { helpBelow } from '../output/help.ts';
import type { Screen } from '../output/screen.ts';
import { intervalText } from '../output/summaries.ts';
import { details, table } from '../output/table.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface ChangesFlags extends ListFlags {
  readonly kind?: ChangeKind;
}
interface CreateFlags extends SubcommandFlags, MonitorFlags {
  readonly cron?: string;
  readonly every?: string;
  readonly timeZone?: string;
}

const EXAMPLES = `
MONITOR is an id that "list" shows, or a name that one monitor has. A running server checks them; see docs/monitors.md.

Examples:
  scrapifie monitors create chair https://shop.example/chair --watch field:price --watch field:availability --every 1h
  scrapifie monitors create blog https://example.com/ --site --include '/blog/*' --cron '0 6 * * *'
  scrapifie monitors changes chair
  scrapifie monitors run chair
  scrapifie monitors list
  scrapifie monitors show chair
  scrapifie monitors pause chair
  scrapifie monitors resume chair
  scrapifie monitors delete chair`;

export const define: DefineCommand = (command, shell) => {
  command.addHelpText('afterAll', helpBelow(EXAMPLES));
  const { add, addOn, addDelete, run } = subcommandsOn(command, shell, {
    name: 'monitors',
    noun: 'Monitor',
    argument: '<monitor>',
    withFlags: withAccountFlags,
    idOf,
  });

  add('list', 'newest first')
    .addOption(limitOption('monitors'))
    .action((flags: ListFlags) => run(flags, (monitors) => monitors.list(mostOf(flags)), listing));
  withMonitorFlags(add('create <name> [url...]', 'watch pages, a site or a sitemap'))
    .option('--cron <line>', 'five fields, or six with seconds in front')
    .option('--every <time>', 'the time between two checks, e.g. 15m or 1h30m')
    .option('--time-zone <name>', 'IANA time zone of the cron line (default: UTC)')
    .action((name: string, urls: string[], flags: CreateFlags) => {
      const { cron, every, timeZone } = flags;
      const input: Record<string, unknown> = { ...monitorInput(shell.cwd, urls, flags), name };
      const schedule = given({ cron, every, timeZone });
      const request = Object.keys(schedule).length === 0 ? input : { ...input, schedule };
      parseFlags(monitorRequestSchema, request, MONITOR_FLAG_OF);
      return run(
        flags,
        (monitors) => monitors.create(request),
        (_screen, { id, nextCheckAt }) =>
          `Monitor ${id} is made; after the first check it checks next at ${nextCheckAt}.\n`,
        true,
      );
    });
  addOn('show', 'one monitor in full', (monitors, id) => monitors.get(id), describe);
  addOn('pause', 'do not check until "resume"', (monitors, id) => monitors.pause(id), describe);
  addOn('resume', 'go on with a paused one', (monitors, id) => monitors.resume(id), describe);
  addOn(
    'run',
    'check now, as well as at its times',
    (monitors, id) => monitors.run(id),
    (_screen, { status, jobId, reason }) =>
      jobId === null ? `The check is ${status}: ${reason}.\n` : `Job ${jobId} has begun.\n`,
  );
  add('changes <monitor>', 'what it has told, newest first')
    .addOption(limitOption('changes'))
    .addOption(new Option('--kind <kind>', 'only changes of this kind').choices(CHANGE_KINDS))
    .action((named: string, flags: ChangesFlags) =>
      run(
        flags,
        async (monitors) =>
          monitors.changes(await idOf(monitors, named), { kind: flags.kind, limit: mostOf(flags) }),
        changeList,
      ),
    );
  addDelete('with its changes; its jobs stay', 'id', (monitors, id) => monitors.delete(id));
};

const idOf = (monitors: BackendMonitors, given: string) => idNamed(given, 'monitor', monitors);
const timingOf = ({ schedule: { cron, everyMs } }: MonitorView) =>
  cron ?? `every ${intervalText(everyMs ?? 0)}`;

function listing(screen: Screen, views: readonly MonitorView[]): string {
  if (views.length === 0) return 'There are no monitors.\n';
  return table(screen, [
    ['ID', 'NAME', 'STATUS', 'WHEN', 'WATCHES', 'CHECKS', 'LAST CHANGE', 'NEXT CHECK'],
    ...views.map((view) => [
      view.id,
      view.name,
      view.status,
      timingOf(view),
      view.target === 'urls' ? `${view.urls.length} pages` : `${view.target} ${view.urls[0] ?? ''}`,
      String(view.checks),
      view.lastChangeAt ?? '–',
      view.nextCheckAt ?? '–',
    ]),
  ]);
}

function describe(screen: Screen, view: MonitorView): string {
  const { lastCheck } = view;
  return details(screen, [
    ['id', view.id],
    ['name', view.name],
    ['status', view.status],
    ['when', `${timingOf(view)} (${view.schedule.timeZone})`],
    ['target', `${view.target}: ${view.urls.join(' ')}`],
    ['watch', JSON.stringify(view.watch)],
    ['ignore', JSON.stringify(view.ignore)],
    ['threshold', JSON.stringify(view.threshold)],
    ['confirm', String(view.confirm)],
    ['settle', `${view.settleMs} ms`],
    ['checks', String(view.checks)],
    [
      'last check',
      lastCheck === null
        ? '–'
        : `${lastCheck.at}: ${describeCount(lastCheck.pages, 'page')}, ${describeCount(lastCheck.changes, 'change')}`,
    ],
    ['last change', view.lastChangeAt ?? '–'],
    ['next check', view.nextCheckAt ?? '–'],
  ]);
}

function changeList(screen: Screen, changes: readonly MonitorChangeView[]): string {
  if (changes.length === 0) return 'Nothing has changed yet.\n';
  return table(screen, [
    ['AT', 'KIND', 'URL', 'WHAT'],
    ...changes.map(({ at, kind, url, text }) => [at, kind, url, text]),
  ]);
}
