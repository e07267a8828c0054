import { describe, expect, it } from 'vitest';
import type { AccountId, ContentHash, JobId, JobSeq, TaskId } from '../../core/model/ids.ts';
import type { Page, PageRecord } from '../../core/model/page.ts';
import { packRecord } from '../../core/model/page-record.ts';
import { createRowBatch, type EncodedFile, type LakeRow, mergeFiles, pagesInFiles } from './lake-rows.ts';
import { decodeParquet } from './parquet-file.ts';

const ACCOUNT = 'acc_1' as AccountId;
const [ONE, TWO] = ['job_1' as JobId, 'job_2' as JobId];
const DAY = Date.UTC(2026, 0, 1, 12);

const RECORD: PageRecord = {
  metadata: null,
  links: [
    { url: 'https://a.test/next', text: 'Next \u0000 \ud800', rel: '', from: 'a' },
    { url: 'mailto:x@a.test', text: '', rel: '', from: 'a' },
  ],
  extracted: { price: 19.5, name: 'Ü' },
  extractedType: 'product',
  extractedProbability: 0.75,
  outcome: 'ok',
};

function page(seq: number, changes: Partial<Page> = {}): { seq: number; page: Page } {
  return {
    seq,
    page: {
      taskId: (seq + 100) as TaskId,
      jobSeq: 1 as JobSeq,
      url: `https://a.test/${seq}`,
      finalUrl: `https://a.test/${seq}`,
      statusCode: 200,
      contentType: 'text/html',
      charset: 'utf-8',
      fetchedAt: DAY,
      depth: 1,
      contentHash: 'ab'.repeat(32) as ContentHash,
      textHash: null,
      bytes: 12_345_678_901,
      title: 'A title',
      etag: null,
      lastModified: null,
      duplicateOf: null,
      errorCode: null,
      errorMessage: null,
      record: packRecord(RECORD),
      ...changes,
    },
  };
}

async function encoded(jobId: JobId, ...seqs: number[]): Promise<readonly EncodedFile[]> {
  const batch = createRowBatch();
  batch.add(
    ACCOUNT,
    jobId,
    seqs.map((seq) => page(seq)),
  );
  return batch.flush();
}

const rowsOf = async (bytes: Uint8Array): Promise<LakeRow[]> =>
  (await Array.fromAsync(decodeParquet(bytes))).flat();
const pagesOf = (files: readonly EncodedFile[]) =>
  files.filter(({ table }) => table === 'pages').map(({ bytes }) => bytes);
const NOTHING = { before: new Map(), pages: new Set<number>() };

describe('rows of pages', () => {
  it('come back from their files as they were, one file for each table and day', async () => {
    const batch = createRowBatch();
    batch.add(ACCOUNT, ONE, [page(1), page(2, { fetchedAt: DAY + 86_400_000, record: null, title: null })]);
    const files = await batch.flush();
    expect(files.map(({ table, date, rows, jobs }) => [table, date, rows, jobs[0]?.firstPage])).toEqual([
      ['pages', '2026-01-01', 1, 1],
      ['links', '2026-01-01', 2, 1],
      ['records', '2026-01-01', 1, 1],
      ['pages', '2026-01-02', 1, 2],
    ]);
    const [pages, links, records, bare] = await Promise.all(files.map(({ bytes }) => rowsOf(bytes)));
    expect(pages?.[0]).toMatchObject({
      ...{
        job_id: ONE,
        task_id: 101n,
        page_seq: 1n,
        host: 'a.test',
        status_code: 200,
        bytes: 12_345_678_901n,
      },
      ...{
        fetched_at: new Date(DAY),
        title: 'A title',
        outcome: 'ok',
        is_rendered: false,
        link_count: 2,
        etag: null,
      },
    });
    expect(links?.map((row) => [row.position, row.text, row.link_host, row.is_internal])).toEqual([
      [0, 'Next \u0000 \ufffd', 'a.test', true],
      [1, '', null, false],
    ]);
    expect(records?.[0]).toMatchObject({
      type: 'product',
      probability: 0.75,
      data: '{"price":19.5,"name":"Ü"}',
    });
    expect(bare?.[0]).toMatchObject({ title: null, link_count: 0, outcome: null });
  });

  it('are held by nothing after a flush', async () => {
    const batch = createRowBatch();
    expect(batch.add(ACCOUNT, ONE, [page(1)])).toBeGreaterThan(100);
    await batch.flush();
    expect(await batch.flush()).toEqual([]);
  });
});

describe('a merge', () => {
  it('has every row of its files once, with the smallest number of each job', async () => {
    const files = [
      ...pagesOf(await encoded(ONE, 5, 6)),
      ...pagesOf(await encoded(TWO, 7)),
      ...pagesOf(await encoded(ONE, 2)),
    ];
    const merged = await mergeFiles('pages', files, NOTHING);
    expect(merged?.rows).toBe(4);
    expect(merged?.jobs).toEqual([
      { jobId: ONE, firstPage: 2 },
      { jobId: TWO, firstPage: 7 },
    ]);
    const rows = await rowsOf(merged?.bytes ?? new Uint8Array());
    expect(rows.map((row) => [row.job_id, Number(row.page_seq)])).toEqual([
      [ONE, 5],
      [ONE, 6],
      [TWO, 7],
      [ONE, 2],
    ]);
    expect(rows[0]).toEqual((await rowsOf(files[0] ?? new Uint8Array()))[0]);
  });

  it('leaves out jobs that are gone, pages that have expired and pages that were stored again', async () => {
    const files = [...pagesOf(await encoded(ONE, 1, 2, 3, 4)), ...pagesOf(await encoded(TWO, 5))];
    const before = new Map([
      [ONE, 2],
      [TWO, null],
    ]);
    const merged = await mergeFiles('pages', files, { before, pages: new Set([3]) });
    expect((await rowsOf(merged?.bytes ?? new Uint8Array())).map((row) => Number(row.page_seq))).toEqual([
      2, 4,
    ]);
    expect(merged?.jobs).toEqual([{ jobId: ONE, firstPage: 2 }]);
    expect(
      await mergeFiles('pages', files, {
        ...NOTHING,
        before: new Map([
          [ONE, null],
          [TWO, null],
        ]),
      }),
    ).toBeNull();
  });

  it('can tell which pages of a job its files have', async () => {
    const files = [...pagesOf(await encoded(ONE, 1, 2)), ...pagesOf(await encoded(TWO, 5))];
    expect(await pagesInFiles(files, [ONE])).toEqual(new Map([[ONE, [1, 2]]]));
  });
});
