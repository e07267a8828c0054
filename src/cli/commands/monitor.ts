import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { formatJobId } from '../../capabilities/jobs/job-id.ts';
import { type MonitorRequest, monitorRequestSchema } from '../../capabilities/monitors/monitor-request.ts';
import { everyMsOf } from '../../capabilities/schedules/schedule-request.ts';
import { monitorChangeView } from '../../capabilities/views/monitor-view.ts';
import { EXIT } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, MonitorId } from '../../core/model/ids.ts';
import type { Monitor } from '../../core/model/monitor.ts';
import { describeCount } from '../../lib/human-units.ts';
import { FLAGS, parseFlags } from '../flags/flags.ts';
import {
  MONITOR_FLAG_OF,
  type MonitorFlags,
  monitorInput,
  withMonitorFlags,
} from '../flags/monitor-flags.ts';
import { dataPlaceOf } from '../folders/data-folder.ts';
import { inDataFolder } from '../folders/one-off.ts';
import { helpBelow } from '../output/help.ts';
import type { DefineCommand, OpenPlatform, Shell } from '../shell/shell.ts';

interface Flags extends MonitorFlags {
  readonly every?: string;
  readonly dataDir?: string;
  readonly allowPrivate?: true;
  readonly quiet?: true;
}

/** The exit code of a check that has found changes. */
const CHANGED = 10;
/** A command is waited for: it looks again sooner than a server does. */
const RECHECK_MS = 5_000;
const LOOK_MS = 250;
/** A look at the store that finds nothing under way is made again after this time, before it is believed. */
const SETTLED_LOOKS = 3;

const EXAMPLES = `
Checks once and writes each change as a line of JSON. The first run makes the baseline. What it remembers is in the data
folder, by URLs and rules: the same command later compares with it.

Exit codes: 0 no change, 10 changes, 4 no page could be checked.

Examples:
  scrapifie monitor https://shop.example/chair --watch field:price
  scrapifie monitor https://example.com/ --site --max-pages 200 --ignore .advertisement
  scrapifie monitor https://example.com/status --watch '#state' --every 10m
  scrapifie monitor https://example.com/sitemap.xml --sitemap || mail -s changed me@example.com`;

export const define: DefineCommand = (command, shell, endWith) => {
  withMonitorFlags(command.argument('[urls...]', 'the pages, or the one site or sitemap'))
    .option('--every <time>', 'check again after this time until Ctrl-C, e.g. 10m; "once" is the default')
    .addOption(FLAGS.dataDir())
    .addOption(FLAGS.allowPrivate())
    .option('--quiet', 'write nothing but changes')
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (urls: string[], flags: Flags) => endWith(await monitor(shell, urls, flags)));
};

async function monitor(shell: Shell, urls: readonly string[], flags: Flags): Promise<number> {
  const everyMs = intervalOf(flags.every);
  const input = {
    name: 'command line',
    schedule: { every: '366d' },
    ...monitorInput(shell.cwd, urls, flags),
  };
  const request = parseFlags(monitorRequestSchema, input, MONITOR_FLAG_OF);
  if (request.notify !== undefined) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      'Only a server notifies; use the lines that this command writes.',
    );
  }
  const key = createHash('sha256').update(JSON.stringify(request)).digest();
  const { dataDir } = dataPlaceOf(shell, flags.dataDir);
  const overrides = {
    dataDir: join(dataDir, 'monitors', key.toString('hex').slice(0, 16)),
    ...(flags.allowPrivate ? { allowPrivate: true } : {}),
  };
  const check = async (platform: OpenPlatform, signal: AbortSignal): Promise<number> => {
    const id = monitorIdOf(key);
    for (;;) {
      const begunAt = performance.now();
      const code = await checkOnce(shell, platform, id, request, flags, signal);
      if (everyMs === null) return code;
      const restMs = Math.max(0, everyMs - (performance.now() - begunAt));
      await pause(restMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return EXIT.interrupted;
    }
  };
  return inDataFolder(shell, overrides, check, { recheckMs: RECHECK_MS });
}

function intervalOf(every: string | undefined): number | null {
  if (every === undefined || every === 'once') return null;
  const ms = everyMsOf(every);
  if (ms === null || ms < 1_000) {
    throw new ScrapifieError('INVALID_USAGE', '--every must be a time such as 90s, 10m or 1h30m, or "once".');
  }
  return ms;
}

/** Equal pages and rules give an equal id. */
function monitorIdOf(key: Buffer): MonitorId {
  const chance = (at: number) => key.readUInt32BE(at) / 0x1_0000_0000;
  return formatJobId({ ms: 0, count: 0 }, chance(0), chance(4)) as string as MonitorId;
}

async function checkOnce(
  shell: Shell,
  platform: OpenPlatform,
  id: MonitorId,
  request: MonitorRequest,
  flags: Flags,
  signal: AbortSignal,
): Promise<number> {
  const { store } = platform;
  const account = await store.defaultAccount();
  const { monitors } = platform.capabilities;
  const since = await store.clock();
  const former = await store.getMonitor(account, id);
  if (former === null) await monitors.create(request, { accountId: account, credentials: 'read' }, id);
  else await monitors.runNow(account, id);
  const checked = await settled(platform, account, id, former?.checks ?? 0, signal);
  const { items } = await monitors.changes({ accountId: account, id, since, limit: 1_000 });
  for (const change of [...items].reverse()) {
    const { links: _links, monitorId: _monitor, ...view } = monitorChangeView(change);
    shell.stdout.write(`${JSON.stringify(view)}\n`);
  }
  const tell = (line: string) => void (flags.quiet || shell.stderr.write(`${line}\n`));
  const pages = checked.lastCheck?.pages ?? 0;
  const { items: jobs } = await store.listJobs({ accountId: account, limit: 10 });
  const fetched = jobs
    .filter(({ createdAt }) => createdAt >= since)
    .reduce((sum, job) => sum + job.counters.pages, 0);
  if (fetched === 0) {
    tell('No page could be checked; what was remembered stays.');
    return EXIT.failed;
  }
  if (former === null)
    tell(`The baseline of ${describeCount(pages, 'page')} is made; the next run compares with it.`);
  else tell(items.length === 0 ? 'Nothing has changed.' : `${describeCount(items.length, 'change')}.`);
  return items.length === 0 ? EXIT.ok : CHANGED;
}

/** The monitor once its check was evaluated, and so were the looks at pages that it was not sure of. */
async function settled(
  { store, settleReaders }: OpenPlatform,
  account: AccountId,
  id: MonitorId,
  checksBefore: number,
  signal: AbortSignal,
): Promise<Monitor> {
  for (let quiet = 0; ; ) {
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) throw new ScrapifieError('CANCELLED', 'The command was interrupted.');
    const { items } = await store.listJobs({ accountId: account, limit: 10 });
    const isBusy = items.some(({ finishedAt }) => finishedAt === null);
    if (!isBusy) await settleReaders();
    const monitor = await store.getMonitor(account, id);
    if (monitor === null) throw new ScrapifieError('NOT_FOUND', 'The monitor is gone.');
    const isOpen = isBusy || monitor.recheckAt !== null || monitor.checks === checksBefore;
    quiet = isOpen ? 0 : quiet + 1;
    if (quiet >= SETTLED_LOOKS) return monitor;
  }
}
