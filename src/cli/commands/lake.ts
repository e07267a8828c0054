import { type CompactionReport, compactLake } from '../../capabilities/lake/compact.ts';
import type { LakeParts } from '../../capabilities/lake/lake-files.ts';
import { collectOrphans, collectReplaced, writeManifest } from '../../capabilities/lake/lake-keeper.ts';
import { type RebuildReport, rebuildLake } from '../../capabilities/lake/rebuild.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { LakeSummary } from '../../core/ports/lake-store.ts';
import { describeBytes } from '../../lib/human-units.ts';
import { FLAGS } from '../flags/flags.ts';
import { openLakeOf } from '../folders/lake-folder.ts';
import { helpBelow } from '../output/help.ts';
import { type Screen, screenOf } from '../output/screen.ts';
import { table } from '../output/table.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface LakeFlags {
  readonly dataDir?: string;
  readonly account?: string;
  readonly json?: true;
}

const EXAMPLES = `
The lake has the pages, links and records of jobs with "lake": true (crawl --lake) as Parquet files, one folder for each
account; docs/lake.md has its columns. Servers compact it by themselves.

Examples:
  scrapifie lake status
  scrapifie lake compact --data-dir ./example
  scrapifie lake rebuild --account acc_123`;

const MOST_ACCOUNTS = 1_000;

export const define: DefineCommand = (command, shell) => {
  command.addHelpText('afterAll', helpBelow(EXAMPLES));
  const withFlags = (name: string, description: string) =>
    command
      .command(name)
      .description(description)
      .addOption(FLAGS.dataDir())
      .option('--account <id>', 'only the lake of this account')
      .addOption(FLAGS.json());

  withFlags('status', 'show how large the lake of each account is').action((flags: LakeFlags) =>
    inLake(shell, flags, async (parts, lakes) => {
      shell.stdout.write(
        flags.json
          ? `${JSON.stringify({ place: parts.files.name, accounts: lakes })}\n`
          : statusText(screenOf(shell), parts.files.name, lakes),
      );
    }),
  );
  withFlags('compact', 'merge small files, and remove rows of jobs that are gone, now').action(
    (flags: LakeFlags) =>
      inLake(shell, flags, async (parts, lakes) => {
        const reports: (CompactionReport & { accountId: AccountId })[] = [];
        for (const { accountId } of lakes)
          reports.push({ accountId, ...(await compactAll(accountId, parts)) });
        const deletedFiles = (await collectReplaced(parts)) + (await collectOrphans(parts));
        shell.stdout.write(
          flags.json
            ? `${JSON.stringify({ accounts: reports, deletedFiles })}\n`
            : table(screenOf(shell), [
                ['ACCOUNT', 'FILES BEFORE', 'FILES AFTER', 'ROWS REMOVED'],
                ...reports.map((each) => [
                  ...[each.accountId, String(each.replacedFiles), String(each.newFiles)],
                  String(each.droppedRows),
                ]),
              ]),
        );
      }),
  );
  withFlags('rebuild', 'write the lake anew from the stored pages').action((flags: LakeFlags) =>
    inLake(shell, flags, async (parts, lakes) => {
      const accounts = await accountsToRebuild(flags, parts, lakes);
      const reports: (RebuildReport & { accountId: AccountId })[] = [];
      for (const accountId of accounts) {
        reports.push({ accountId, ...(await rebuildLake(accountId, parts)) });
        await writeManifests(accountId, parts);
      }
      shell.stdout.write(
        flags.json
          ? `${JSON.stringify({ accounts: reports })}\n`
          : table(screenOf(shell), [
              ['ACCOUNT', 'JOBS', 'PAGES', 'FILES', 'ROWS'],
              ...reports.map(({ accountId, jobs, pages, files, rows }) => [
                ...[accountId, String(jobs), String(pages), String(files), String(rows)],
              ]),
            ]),
      );
    }),
  );
};

async function inLake(
  shell: Shell,
  flags: LakeFlags,
  action: (parts: LakeParts, lakes: readonly LakeSummary[]) => Promise<void>,
): Promise<void> {
  const { storage, lake, account } = await openLakeOf(shell, flags);
  try {
    const lakes = await storage.store.listLakes({ after: null, limit: MOST_ACCOUNTS });
    await action(
      lake.parts,
      account === null ? lakes : lakes.filter(({ accountId }) => accountId === account),
    );
  } finally {
    await lake.close();
    await storage.close();
  }
}

/** Until nothing is left to do; a step that another process was faster with is left to it. */
async function compactAll(accountId: AccountId, parts: LakeParts): Promise<CompactionReport> {
  const report = await compactLake(accountId, parts, {
    mostSteps: Number.MAX_SAFE_INTEGER,
    isForced: true,
  });
  await writeManifests(accountId, parts);
  return report;
}

async function writeManifests(accountId: AccountId, parts: LakeParts): Promise<void> {
  const lakes = await parts.store.listLakes({ after: null, limit: MOST_ACCOUNTS });
  for (const lake of lakes) if (lake.accountId === accountId) await writeManifest(lake, parts);
}

/** An account whose lake was lost has no files, and so is not among the lakes. */
async function accountsToRebuild(
  flags: LakeFlags,
  { store }: LakeParts,
  lakes: readonly LakeSummary[],
): Promise<readonly AccountId[]> {
  if (flags.account !== undefined) return [flags.account as AccountId];
  const found = new Set(lakes.map(({ accountId }) => accountId));
  let after: AccountId | null = null;
  for (;;) {
    const ids: AccountId[] = await store.listAccountIds({ after, limit: MOST_ACCOUNTS });
    for (const id of ids) {
      const { items } = await store.listJobs({ accountId: id, limit: 1 });
      if (items.length > 0) found.add(id);
    }
    after = ids.at(-1) ?? null;
    if (ids.length < MOST_ACCOUNTS) return [...found];
  }
}

function statusText(screen: Screen, place: string, lakes: readonly LakeSummary[]): string {
  const title = `Lake in ${place}\n`;
  if (lakes.length === 0) return `${title}It is empty: no job with "lake": true has stored a page yet.\n`;
  return (
    title +
    table(screen, [
      ['ACCOUNT', 'FILES', 'SIZE', 'PAGES', 'LINKS', 'RECORDS', 'CHANGED'],
      ...lakes.map(({ accountId, files, bytes, tables, changedAt }) => [
        ...[accountId, String(files), describeBytes(bytes)],
        ...[String(tables.pages), String(tables.links), String(tables.records)],
        changedAt === null ? '' : new Date(changedAt).toISOString(),
      ]),
    ])
  );
}
