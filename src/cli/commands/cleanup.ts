import { Option } from 'commander';
import {
  type BlobAmount,
  type BlobSweepReport,
  sweepBlobs,
} from '../../capabilities/jobs/maintenance/blob-sweep.ts';
import { sweepIndex } from '../../capabilities/query/search/search-reader.ts';
import {
  applyRetention,
  deleteAccounts,
  type RetentionReport,
} from '../../capabilities/retention/apply-retention.ts';
import {
  eventsMsOf,
  installationLimits,
  limitsOfAccount,
} from '../../capabilities/retention/retention-admin.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';
import { FLAGS, readSettings } from '../flags/flags.ts';
import { openExisting } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import { screenOf } from '../output/screen.ts';
import { details } from '../output/table.ts';
import type { DefineCommand, OpenPlace, Shell } from '../shell/shell.ts';

interface CleanupFlags {
  readonly dataDir?: string;
  readonly dryRun?: true;
  /** True unless `--no-grace` is given. */
  readonly grace: boolean;
  readonly json?: true;
}

const EXAMPLES = `
Deletes jobs, pages, records, pictures and bodies whose time is over by SCRAPIFIE_RETENTION_… or by the job itself, then
bodies that no page refers to: these stay when their job is deleted, because other jobs may share them. Servers do both
every SCRAPIFIE_CLEANUP_MINUTES; this does it now. Beside running servers, bodies younger than
SCRAPIFIE_CLEANUP_GRACE_HOURS are kept, because a page that refers to them may be on its way. While every server of the
installation is stopped, or crawls nothing, --no-grace removes the young ones too.

Examples:
  scrapifie cleanup --dry-run
  scrapifie cleanup --data-dir ./example`;

export const define: DefineCommand = (command, shell) => {
  command
    .addOption(FLAGS.dataDir())
    .addOption(new Option('--dry-run', 'only say what would be removed'))
    .addOption(
      new Option(
        '--no-grace',
        'remove young bodies too; only safe while no server of the installation crawls',
      ),
    )
    .addOption(FLAGS.json())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (flags: CleanupFlags) => {
      const storage = await openExisting(shell, flags.dataDir);
      try {
        const isDryRun = flags.dryRun === true;
        const settings = readSettings(shell, {});
        const limits = installationLimits(settings);
        const eventsMs = eventsMsOf(settings);
        const parts = {
          store: storage.store,
          limitsOf: (id: AccountId) => limitsOfAccount(storage.store, id, limits),
          eventsMs,
        };
        if (!isDryRun) await deleteAccounts(storage.store);
        const retention = await applyRetention(parts, { isDryRun });
        // Entries of what was deleted are shown by no search, and need no dry run.
        const entries = isDryRun ? 0 : await sweepIndex({ store: storage.store, index: storage.search });
        const blobs = await sweep(shell, storage, flags);
        shell.stdout.write(
          flags.json
            ? `${JSON.stringify({ ...blobs, retention, searchEntries: entries })}\n`
            : details(screenOf(shell), [
                ...retentionRows(retention, isDryRun),
                ...(entries === 0 ? [] : [['removed, entries of the search index', `${entries} entries`]]),
                ...blobRows(blobs, isDryRun),
              ]),
        );
      } finally {
        await storage.close();
      }
    });
};

async function sweep(shell: Shell, storage: OpenPlace, flags: CleanupFlags): Promise<BlobSweepReport> {
  const { cleanupGraceHours } = readSettings(shell, {});
  const unlock = storage.lockAlone();
  try {
    // Where nothing else works, no page is on its way.
    const hasGrace = unlock === null && flags.grace;
    const graceMs = hasGrace ? cleanupGraceHours * 3_600_000 : 0;
    const report = await sweepBlobs(storage, { graceMs, isDryRun: flags.dryRun === true });
    // The database of a folder is written anew only where no other process waits for it.
    if (report !== null && unlock !== null && flags.dryRun !== true) await storage.store.compact();
    if (report !== null) return report;
    throw new ScrapifieError(
      'CONFLICT',
      'Another process is removing unreferenced bodies, or makes a backup, at the moment.',
    );
  } finally {
    unlock?.();
  }
}

const KINDS: Readonly<Record<keyof RetentionReport, readonly [name: string, unit: string]>> = {
  jobs: ['jobs', 'jobs'],
  ledger: ['URLs and pages', 'jobs'],
  records: ['records', 'pages'],
  artifacts: ['pictures, PDFs and recorded answers', 'pages'],
  bodies: ['bodies', 'pages'],
  exports: ['exports', 'files'],
  snapshots: ['snapshots', 'contents'],
  events: ['events', 'events'],
  answers: ['answers under an Idempotency-Key', 'answers'],
  robots: ['robots.txt files', 'files'],
};

function retentionRows(report: RetentionReport, isDryRun: boolean): string[][] {
  const said = isDryRun ? 'to be deleted' : 'deleted';
  return Object.entries(KINDS).map(([kind, [name, unit]]) => {
    const { items, bytes } = report[kind as keyof RetentionReport];
    return [`${said}, ${name}`, `${items} ${unit}`, `${bytes} bytes`];
  });
}

function blobRows({ found, removed, expired }: BlobSweepReport, isDryRun: boolean): string[][] {
  const said = isDryRun ? 'to be removed' : 'removed';
  const row = (what: string, { objects, bytes }: BlobAmount) => [
    what,
    `${objects} objects`,
    `${bytes} bytes`,
  ];
  return [
    row('bodies found', found),
    row(`${said}, bodies without references`, removed),
    row(`${said}, left on the way between processes`, expired),
  ];
}
