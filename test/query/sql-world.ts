import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { writeLakeFiles } from '../../src/capabilities/lake/lake-files.ts';
import { createRowBatch } from '../../src/capabilities/lake/lake-rows.ts';
import { createSqlQueries } from '../../src/capabilities/query/sql/sql-queries.ts';
import {
  type SqlEnd,
  type SqlRequest,
  type SqlValue,
  sqlRequestSchema,
} from '../../src/capabilities/query/sql/sql-request.ts';
import type { AccountId, ContentHash, JobId, JobSeq, TaskId } from '../../src/core/model/ids.ts';
import type { Page } from '../../src/core/model/page.ts';
import { packRecord } from '../../src/core/model/page-record.ts';
import type { LakeFile, LakeRule } from '../../src/core/ports/lake-store.ts';
import { createLakeFs } from '../../src/drivers/lake-fs/lake-fs.ts';
import type { Forbidden } from './escapes.ts';

export const OWN = 'acc_own' as AccountId;
export const OTHER = 'acc_other' as AccountId;
const DAY = Date.UTC(2026, 0, 1, 12);

/** A lake in a folder with the files of two accounts, and SQL over that of the first. */
export interface SqlWorld {
  readonly forbidden: Forbidden;
  /** What of the jobs is hidden; for the test to set. */
  rules: readonly LakeRule[];
  ask(sql: string, changes?: Partial<SqlRequest>): Promise<SqlAnswer>;
  readonly queries: ReturnType<typeof createSqlQueries>;
  close(): Promise<void>;
}

export interface SqlAnswer extends Omit<SqlEnd, 'rows'> {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly SqlValue[])[];
}

function pageOf(seq: number, title: string): { seq: number; page: Page } {
  const url = `https://${seq % 2 === 0 ? 'a' : 'b'}.test/${seq}`;
  const links = [{ url: 'https://a.test/', text: 'Home', rel: '', from: 'a' }];
  return {
    seq,
    page: {
      ...{ taskId: (1_000 + seq) as TaskId, jobSeq: 1 as JobSeq, url, finalUrl: url, statusCode: 200 },
      ...{ contentType: 'text/html', charset: 'utf-8', fetchedAt: DAY + seq * 86_400_000, depth: 0 },
      ...{ contentHash: 'ab'.repeat(32) as ContentHash, textHash: null, bytes: seq * 100, title },
      ...{ etag: null, lastModified: null, duplicateOf: null, errorCode: null, errorMessage: null },
      record: packRecord({ metadata: null, links, outcome: 'ok', extracted: { price: seq } }),
    },
  };
}

export async function openSqlWorld({ memoryMb = 128, mostWaitMs = 30_000 } = {}): Promise<SqlWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-sql-'));
  const files = createLakeFs(join(folder, 'lake'));
  let count = 0;
  const write = async (accountId: AccountId, title: string, seqs: readonly number[]) => {
    const batch = createRowBatch();
    batch.add(
      accountId,
      `job_${accountId}` as JobId,
      seqs.map((seq) => pageOf(seq, title)),
    );
    const randomHex = () => {
      count += 1;
      return count.toString(16).padStart(16, '0');
    };
    const written = await writeLakeFiles(await batch.flush(), { files, now: () => DAY, randomHex });
    return written.map((file): LakeFile => ({ ...file, addedAt: DAY }));
  };
  const own = await write(OWN, 'own', [1, 2, 3, 4]);
  const others = await write(OTHER, 'the secret of others', [5]);
  const csvFile = join(folder, 'passwords.csv');
  await writeFile(csvFile, 'a,b\n1,secret\n');
  const local = (file: LakeFile | undefined) => files.localPath(file?.path ?? '') ?? '';
  const world: SqlWorld = {
    rules: [],
    forbidden: {
      otherFile: local(others[0]),
      otherFolder: dirname(dirname(dirname(local(others[0])))),
      ownFile: local(own[0]),
      csvFile,
      newFile: join(folder, 'made.csv'),
      otherAccount: OTHER,
    },
    queries: createSqlQueries({
      store: {
        viewLake: async ({ accountId, tables = [] }) => ({
          version: 1,
          files: (accountId === OWN ? own : others).filter(({ table }) => tables.includes(table)),
          hasMore: false,
          rules: world.rules,
        }),
      },
      files,
      copies: null,
      clock: () => performance.now(),
      memoryMb,
      mostAtOnce: 2,
      mostWaitMs,
    }),
    async ask(sql, changes = {}) {
      const request = { ...sqlRequestSchema.parse({ sql }), ...changes };
      const result = await world.queries.run({ accountId: OWN, hasPrivate: false }, request);
      const rows = await Array.fromAsync(result.rows);
      return { ...result.end(), columns: result.columns, rows };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
  return world;
}
