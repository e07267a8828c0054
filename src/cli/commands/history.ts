import { Option } from 'commander';
import type { SightingView, SnapshotView } from '../../capabilities/views/snapshot-view.ts';
import { MOST_LISTED } from '../backend/backend.ts';
import { type BackendFlags, withBackend } from '../backend/open-backend.ts';
import { wholeNumber } from '../flags/flag-values.ts';
import { withPlaceFlags } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import { type Screen, screenOf } from '../output/screen.ts';
import { table } from '../output/table.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface HistoryFlags extends BackendFlags {
  readonly json?: true;
  readonly sightings?: true;
  readonly limit: number;
}

const EXAMPLES = `
Lists each content that jobs with --snapshots have seen at the URL, the one that was seen last first; with --sightings,
which job saw which content, the newest first. --data-dir takes the folder of a crawl as well.

Examples:
  scrapifie history https://example.com/
  scrapifie history https://example.com/ --data-dir ./crawl-example.com
  scrapifie history https://example.com/ --sightings --json --api https://scrapifie.example`;

const DEFAULT_LIMIT = 100;

export const define: DefineCommand = (command, shell) => {
  withPlaceFlags(command.argument('<url>', 'the page'))
    .option('--sightings', 'which job saw which content, and when')
    .addOption(
      new Option('--limit <n>', 'lines to show at most').default(DEFAULT_LIMIT).argParser(wholeNumber),
    )
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action((url: string, flags: HistoryFlags) =>
      withBackend(shell, flags, async ({ history }) => {
        const limit = Math.min(MOST_LISTED, Math.max(1, flags.limit));
        const ndjson = (items: readonly object[]) =>
          items.map((item) => `${JSON.stringify(item)}\n`).join('');
        if (flags.sightings === true) {
          const seen = await history.sightings(url, limit);
          shell.stdout.write(flags.json ? ndjson(seen) : sightingsTable(screenOf(shell), seen));
          return;
        }
        const snapshots = await history.snapshots(url, limit);
        shell.stdout.write(flags.json ? ndjson(snapshots) : snapshotsTable(screenOf(shell), snapshots));
      }),
    );
};

const NOTHING = 'There is no history of this page. Jobs with --snapshots write it.\n';

function snapshotsTable(screen: Screen, snapshots: readonly SnapshotView[]): string {
  if (snapshots.length === 0) return NOTHING;
  return table(screen, [
    ['SNAPSHOT', 'FIRST SEEN', 'LAST SEEN', 'TIMES', 'BYTES', 'PRICE', 'TITLE'],
    ...snapshots.map(({ id, firstSeenAt, lastSeenAt, timesSeen, bytes, price, currency, title }) => [
      id,
      firstSeenAt,
      lastSeenAt,
      String(timesSeen),
      String(bytes),
      price === null ? '' : `${price} ${currency ?? ''}`.trim(),
      title ?? '',
    ]),
  ]);
}

function sightingsTable(screen: Screen, seen: readonly SightingView[]): string {
  if (seen.length === 0) return NOTHING;
  return table(screen, [
    ['SEEN', 'SNAPSHOT', 'JOB'],
    ...seen.map(({ seenAt, snapshotId, jobId }) => [seenAt, snapshotId, jobId]),
  ]);
}
