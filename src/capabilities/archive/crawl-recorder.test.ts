import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readWarc } from '../../../test/archives/warc-check.ts';
import type { ContentHash, JobSeq, TaskId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { Page } from '../../core/model/page.ts';
import { packRecord } from '../../core/model/page-record.ts';
import { type CrawlRecorder, openCrawlRecorder, type RecordedSource } from './crawl-recorder.ts';
import { recordingPlace } from './recording-place.ts';

const dir = mkdtempSync(join(tmpdir(), 'scrapifie-recorder-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
let runs = 0;
let stateDir = '';
let warc = '';
beforeEach(() => {
  runs += 1;
  stateDir = join(dir, `state-${runs}`);
  mkdirSync(stateDir);
  warc = join(dir, `${runs}.warc.gz`);
});

const options = {
  page: {
    method: 'GET',
    headers: {},
    cookies: {},
    body: null,
    proxy: null,
    render: null,
    session: null,
    obeyRobots: true,
  },
};
const job = { id: 'job-1', seq: 1 as JobSeq, options } as unknown as Job;

const pageAt = (n: number, fetchedAt = 1_000 + n) =>
  ({
    ...{
      url: `https://a.example/${n}`,
      finalUrl: `https://a.example/${n}`,
      statusCode: 200,
      depth: 1,
      fetchedAt,
    },
    ...{
      contentType: 'text/html',
      charset: null,
      contentHash: `${n}` as ContentHash,
      textHash: null,
      bytes: 9,
    },
    ...{
      title: null,
      etag: null,
      lastModified: null,
      duplicateOf: null,
      errorCode: null,
      errorMessage: null,
    },
    ...{ record: packRecord({ metadata: null, links: [] }), taskId: n as TaskId, jobSeq: 1 as JobSeq },
  }) satisfies Page;

/** The store as it is after these commits. */
const committed = (...pages: readonly Page[]): RecordedSource => ({
  store: { listPages: async () => ({ items: pages, nextCursor: null }) },
  blobs: { get: async (hash) => Buffer.from(`<p>Page ${hash}</p>`) },
});

const open = (source: RecordedSource, maxFileBytes = 1_000_000): Promise<CrawlRecorder> =>
  openCrawlRecorder(source, {
    ...{ place: recordingPlace(warc, job.id), stateDir, job, version: '1', maxFileBytes, now: () => 5 },
  });

async function recorded(path = warc): Promise<string[]> {
  const facts = (await readWarc(path)).filter(({ type }) => type === 'metadata');
  return facts.map(({ payload }) => (JSON.parse(String(payload)) as { url: string }).url).sort();
}

const urls = (...numbers: readonly number[]) => numbers.map((n) => `https://a.example/${n}`);

describe('a recording', () => {
  it('has each committed page once, told or not', async () => {
    const recorder = await open(committed(pageAt(1)));
    recorder.append([pageAt(2), pageAt(1)]);
    await recorder.finish(committed(pageAt(1), pageAt(2), pageAt(3)));
    expect(await recorded()).toEqual(urls(1, 2, 3));
  });

  it('goes on after a kill between its records and its notes', async () => {
    await (await open(committed(pageAt(1)))).finish(committed(pageAt(1)));
    const [notes, ids] = [join(stateDir, 'recording.json'), join(stateDir, 'recording.ids')];
    copyFileSync(notes, `${notes}.old`);
    await (await open(committed(pageAt(1), pageAt(2)))).finish(committed(pageAt(1), pageAt(2)));
    // The ids were appended, the note was not written.
    copyFileSync(`${notes}.old`, notes);
    const pages = committed(pageAt(1), pageAt(2), pageAt(3));
    await (await open(pages)).finish(pages);
    expect(await recorded()).toEqual(urls(1, 2, 3));
    await (await open(pages)).finish(pages);
    expect(await recorded()).toEqual(urls(1, 2, 3));
    // Without any notes the files themselves tell.
    for (const path of [notes, ids]) rmSync(path);
    await (await open(pages)).finish(pages);
    expect(await recorded()).toEqual(urls(1, 2, 3));
  });

  it('has a page twice that was fetched twice, because its job was retried', async () => {
    await (await open(committed(pageAt(1)))).finish(committed(pageAt(1)));
    await (await open(committed(pageAt(1, 9_000)))).finish(committed(pageAt(1, 9_000)));
    expect(await recorded()).toEqual(urls(1, 1));
  });

  it('begins another file when one is full, and finds them all again', async () => {
    const pages = committed(...Array.from({ length: 12 }, (_, n) => pageAt(n)));
    await (await open(pages, 4_000)).finish(pages);
    const second = warc.replace('.warc.gz', '-00001.warc.gz');
    expect(existsSync(second)).toBe(true);
    const all = committed(...Array.from({ length: 13 }, (_, n) => pageAt(n)));
    await (await open(all, 4_000)).finish(all);
    const found: string[] = [];
    for (let at = 0; ; at += 1) {
      const path = at === 0 ? warc : warc.replace('.warc.gz', `-${String(at).padStart(5, '0')}.warc.gz`);
      if (!existsSync(path)) break;
      found.push(...(await recorded(path)));
    }
    expect(found.sort()).toEqual(urls(...Array.from({ length: 13 }, (_, n) => n)).sort());
  });

  it('has what becomes no page in its file before the task may end, and once', async () => {
    const recorder = await open(committed());
    const response = {
      ...{ url: 'https://a.example/robots.txt', finalUrl: 'https://a.example/robots.txt', statusCode: 200 },
      ...{ headers: {}, contentType: 'text/plain', body: Buffer.from('User-agent: *'), redirects: [] },
      redirectedTo: null,
    };
    await recorder.exchanged({ kind: 'robots', response, fetchedAt: 1 });
    expect(await recorded()).toEqual(['https://a.example/robots.txt']);
    await recorder.exchanged({ kind: 'robots', response, fetchedAt: 2 });
    await recorder.finish(committed());
    expect(await recorded()).toEqual(['https://a.example/robots.txt']);
  });

  it('says what kept it from being written', async () => {
    const recorder = await open(committed());
    rmSync(dir, { recursive: true, force: true });
    recorder.append([pageAt(1)]);
    await expect(recorder.finish(committed(pageAt(1)))).rejects.toMatchObject({ code: 'DATA_DIR_UNUSABLE' });
    mkdirSync(dir);
    writeFileSync(join(dir, 'file'), '');
    expect(() => recordingPlace(join(dir, 'file', 'a.warc.gz'), 'job-1')).toThrow(
      expect.objectContaining({ code: 'DATA_DIR_UNUSABLE' }),
    );
  });

  it.each(['a.warc', 'a.wacz', 'a.gz'])('is not made into %s', (name) => {
    expect(() => recordingPlace(join(dir, name), 'job-1')).toThrow(
      expect.objectContaining({ code: 'INVALID_USAGE' }),
    );
  });
});
