import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { auditView } from '../../capabilities/views/account-view.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import {
  type AuditHead,
  type AuditQuery,
  type AuditRecord,
  type AuditVerdict,
  eachAudit,
  verifyAudit,
} from '../../core/ports/audit-store.ts';
import type { ApiClient } from '../backend/api-client.ts';
import { apiClientOf, type BackendFlags } from '../backend/open-backend.ts';
import { wholeNumber } from '../flags/flag-values.ts';
import { FLAGS } from '../flags/flags.ts';
import { openExisting } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import { writeOut } from '../output/output-files.ts';
import { type Screen, screenOf } from '../output/screen.ts';
import { table } from '../output/table.ts';
import type { DefineCommand, OpenStorage, Shell } from '../shell/shell.ts';

interface SelectFlags extends BackendFlags {
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
interface VerifyFlags extends BackendFlags {
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
  command.addHelpText('afterAll', helpBelow(EXAMPLES));
  const add = (name: string, summary: string) =>
    command
      .command(name)
      .description(summary)
      .addOption(FLAGS.dataDir())
      .addOption(FLAGS.api())
      .addOption(FLAGS.apiKey());
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
      withLog(shell, flags, async (log) => {
        const limit = Math.min(MOST_SHOWN, Math.max(1, flags.limit));
        const items = await log.list(selected(flags), limit);
        shell.stdout.write(flags.json ? items.map(jsonLine).join('') : listing(screenOf(shell), items));
      }),
    );

  selecting('export', 'write entries as NDJSON, oldest first')
    .option('--out <file>', 'file to write (default: standard output)')
    .action((flags: ExportFlags) =>
      withLog(shell, flags, async (log) =>
        writeOut(shell, flags.out, lines(await log.export(selected(flags)))),
      ),
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

/** The audit log of a data folder, or of a running server. */
interface AuditLog {
  /** Returns the entries, the newest first. */
  list(query: Selection, limit: number): Promise<readonly AuditRecord[]>;
  /** Returns the entries, the oldest first. The log gets an entry about the export. */
  export(query: Selection): Promise<AsyncIterable<AuditRecord>>;
  verify(expect: readonly AuditHead[]): Promise<AuditVerdict>;
}

type Selection = Omit<AuditQuery, 'limit'>;

const logIn = ({ store }: OpenStorage): AuditLog => ({
  list: async (query, limit) => (await store.listAudit({ ...query, limit })).items,
  async export(query) {
    await store.audit([
      { at: Date.now(), actor: ACTOR, action: 'audit.export', target: 'audit', details: {} },
    ]);
    return eachAudit(store, query);
  },
  async verify(expect) {
    // The head is read first: entries that are added meanwhile come after it.
    const head = await store.auditHead();
    return verifyAudit(eachAudit(store), [...expect, head]);
  },
});

/** The server itself notes that its log was read. The hashes are recomputed here, not there. */
function logAt(client: ApiClient): AuditLog {
  const pathOf = ({ since, until, ...words }: Selection): string => {
    const given = Object.entries({ ...words, since: timeOf(since), until: timeOf(until) });
    const query = new URLSearchParams(
      given.filter((pair): pair is [string, string] => pair[1] !== undefined),
    );
    return query.size === 0 ? '/v1/audit' : `/v1/audit?${query}`;
  };
  return {
    async list(query, limit) {
      const items: AuditRecord[] = [];
      for await (const item of client.list(pathOf(query), limit)) items.push(recordSchema.parse(item));
      return items;
    },
    export: async (query) => parsed(client.stream(pathOf(query))),
    verify: (expect) => verifyAudit(parsed(client.stream('/v1/audit')), expect),
  };
}

const timeOf = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());

async function* parsed(items: AsyncIterable<unknown>): AsyncGenerator<AuditRecord> {
  for await (const item of items) yield recordSchema.parse(item);
}

const verifyStore = (shell: Shell, flags: VerifyFlags): Promise<AuditVerdict> =>
  withLog(shell, flags, (log) => log.verify(flags.expect ?? []));

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

async function withLog<T>(
  shell: Shell,
  flags: BackendFlags,
  action: (log: AuditLog) => Promise<T>,
): Promise<T> {
  const client = apiClientOf(shell, flags);
  if (client !== null) return action(logAt(client));
  const storage = await openExisting(shell, flags.dataDir);
  try {
    return await action(logIn(storage));
  } finally {
    await storage.close();
  }
}

const jsonLine = (record: AuditRecord) => `${JSON.stringify(auditView(record))}\n`;

async function* lines(records: AsyncIterable<AuditRecord>): AsyncGenerator<string> {
  for await (const record of records) yield jsonLine(record);
}

function listing(screen: Screen, records: readonly AuditRecord[]): string {
  if (records.length === 0) return 'The audit log has no such entries.\n';
  return table(screen, [
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
