import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { auditView } from '../../api/routes/audit.ts';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { type AuditHead, type AuditRecord, type AuditVerdict, verifyAudit } from '../../model/audit-chain.ts';
import { type AuditQuery, eachAudit } from '../../ports/audit-store.ts';
import { FLAGS, wholeNumber } from '../flags/flags.ts';
import { openExisting } from '../folders/data-folder.ts';
import { writeOut } from '../output/output-file.ts';
import { table } from '../output/table.ts';
import type { DefineCommand, OpenStorage, Shell } from '../shell/shell.ts';

interface PlaceFlags {
  readonly dataDir?: string;
}
interface SelectFlags extends PlaceFlags {
  readonly action?: string;
  readonly actor?: string;
  readonly target?: string;
  readonly since?: number;
  readonly until?: number;
}
interface ListFlags extends SelectFlags {
  readonly limit: number;
  readonly json?: true;
}
interface ExportFlags extends SelectFlags {
  readonly out?: string;
}
interface VerifyFlags extends PlaceFlags {
  readonly file?: string;
  readonly expect?: readonly AuditHead[];
  readonly json?: true;
}

const ACTOR = 'command line';
const MOST_SHOWN = 1_000;

const EXAMPLES = `
Entries are never changed or deleted. Each has the hash of the one before; "verify" recomputes them all and prints number
and hash of the last one. Keep that line elsewhere: given to --expect later, it shows that nothing up to there was written
anew, not even with write access to the database.

Examples:
  scrapifie audit list --action login.failed --since 2026-01-01T00:00:00Z
  scrapifie audit export --out audit.ndjson
  scrapifie audit verify --expect 1042:9f86d081…
  scrapifie audit verify --file audit.ndjson`;

export const define: DefineCommand = (command, shell) => {
  command.addHelpText('after', EXAMPLES);
  const add = (name: string, summary: string) =>
    command.command(name).description(summary).addOption(FLAGS.dataDir());
  const selecting = (name: string, summary: string) =>
    add(name, summary)
      .option('--action <name>', 'entries with this action, such as key.create')
      .option('--actor <name>', 'entries of this key, address or account')
      .option('--target <name>', 'entries about this job, key, host …')
      .addOption(new Option('--since <time>', 'entries of this time or later').argParser(pointInTime))
      .addOption(new Option('--until <time>', 'entries before this time').argParser(pointInTime));

  selecting('list', 'newest first')
    .addOption(new Option('--limit <n>', 'entries to show at most').default(50).argParser(wholeNumber))
    .addOption(FLAGS.json())
    .action((flags: ListFlags) =>
      withStore(shell, flags, async ({ store }) => {
        const limit = Math.min(MOST_SHOWN, Math.max(1, flags.limit));
        const { items } = await store.listAudit({ ...selected(flags), limit });
        shell.stdout.write(flags.json ? items.map(jsonLine).join('') : listing(items));
      }),
    );

  selecting('export', 'write entries as NDJSON, oldest first')
    .option('--out <file>', 'file to write (default: standard output)')
    .action((flags: ExportFlags) =>
      withStore(shell, flags, async ({ store }) => {
        await store.audit([
          { at: Date.now(), actor: ACTOR, action: 'audit.export', target: 'audit', details: {} },
        ]);
        await writeOut(shell, flags.out, lines(eachAudit(store, selected(flags))));
      }),
    );

  add('verify', 'recompute the hashes of the whole log, or of an exported file')
    .option('--file <file>', 'an export of the whole log, instead of the store')
    .addOption(
      new Option('--expect <seq:hash>', 'an entry that the log must have; repeatable').argParser(expected),
    )
    .addOption(FLAGS.json())
    .action(async (flags: VerifyFlags) => {
      const verdict =
        flags.file === undefined
          ? await verifyStore(shell, flags)
          : await verifyAudit(recordsOf(resolve(shell.cwd, flags.file)), flags.expect);
      if (flags.json) shell.stdout.write(`${JSON.stringify(verdict)}\n`);
      const { fault, head, count } = verdict;
      if (fault !== null) {
        throw new ScrapifieError(
          'AUDIT_LOG_BROKEN',
          `Entry ${fault.seq} of the audit log is wrong: ${fault.reason}. The ${count} entries before are right.`,
        );
      }
      if (!flags.json)
        shell.stdout.write(`${count} entries are right. The last one: ${head.seq}:${head.hash}\n`);
    });
};

function pointInTime(text: string): number {
  const parsed = z.iso.datetime({ offset: true }).or(z.iso.date()).safeParse(text);
  if (!parsed.success) {
    throw new InvalidArgumentError('It must be a time such as 2026-01-31 or 2026-01-31T12:00:00Z.');
  }
  return Date.parse(text);
}

function expected(text: string, sofar: readonly AuditHead[] = []): readonly AuditHead[] {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined) {
    throw new InvalidArgumentError('It must be a number and a hash as "audit verify" prints them.');
  }
  return [...sofar, { seq: Number(seq), hash }];
}

const selected = ({ action, actor, target, since, until }: SelectFlags): Omit<AuditQuery, 'limit'> => ({
  action,
  actor,
  target,
  since,
  until,
});

/** The head is read first: entries that are added meanwhile come after it. */
function verifyStore(shell: Shell, flags: VerifyFlags): Promise<AuditVerdict> {
  return withStore(shell, flags, async ({ store }) => {
    const head = await store.auditHead();
    return verifyAudit(eachAudit(store), [...(flags.expect ?? []), head]);
  });
}

const recordSchema = z.object({
  seq: z.number(),
  at: z.iso.datetime().transform((text) => Date.parse(text)),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  details: z.custom<Record<string, unknown>>((value) => typeof value === 'object' && value !== null),
  previousHash: z.string(),
  hash: z.string(),
});

async function* recordsOf(file: string): AsyncGenerator<AuditRecord> {
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    line += 1;
    if (text.trim() === '') continue;
    const parsed = recordSchema.safeParse(jsonOf(text));
    if (!parsed.success) {
      throw new ScrapifieError('INVALID_USAGE', `Line ${line} of ${file} is no entry of an audit log.`);
    }
    yield parsed.data;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function withStore<T>(
  shell: Shell,
  flags: PlaceFlags,
  action: (storage: OpenStorage) => Promise<T>,
): Promise<T> {
  const storage = await openExisting(shell, flags.dataDir);
  try {
    return await action(storage);
  } finally {
    await storage.close();
  }
}

const jsonLine = (record: AuditRecord) => `${JSON.stringify(auditView(record))}\n`;

async function* lines(records: AsyncIterable<AuditRecord>): AsyncGenerator<string> {
  for await (const record of records) yield jsonLine(record);
}

function listing(records: readonly AuditRecord[]): string {
  if (records.length === 0) return 'The audit log has no such entries.\n';
  return table([
    ['SEQ', 'TIME', 'ACTION', 'ACTOR', 'TARGET', 'DETAILS'],
    ...records.map(({ seq, at, action, actor, target, details }) => [
      String(seq),
      new Date(at).toISOString(),
      action,
      actor,
      target,
      JSON.stringify(details),
    ]),
  ]);
}
