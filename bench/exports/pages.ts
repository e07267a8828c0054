import { createHash } from 'node:crypto';
import type { ExportPage, PageSource } from '../../src/capabilities/exports/table.ts';
import { readRecord } from '../../src/capabilities/jobs/results/page-result.ts';
import type { AccountId, ContentHash, JobId, JobSeq, TaskId } from '../../src/core/model/ids.ts';
import type { Job } from '../../src/core/model/job.ts';
import type { Page, PageRecord } from '../../src/core/model/page.ts';
import { packRecord } from '../../src/core/model/page-record.ts';
import { OPTIONS } from '../../test/contract/store/fixtures.ts';

export const JOB = {
  id: '01980000-0000-7000-8000-000000000000' as JobId,
  accountId: 'default' as AccountId,
  kind: 'crawl',
  options: OPTIONS,
  seeds: ['https://shop.example/'],
} as unknown as Job;

export const CREATED_AT = 1_767_225_600_000;

/** A small page of a shop: 1.2 KB of HTML, three paragraphs of text. */
interface SmallPage {
  readonly url: string;
  readonly title: string;
  readonly fetchedAt: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly html: Buffer;
  readonly markdown: string;
}

const WORDS =
  'The oak is oiled by hand and keeps its colour for years when it stands away from the window and is wiped with a dry cloth.';

function smallPage(n: number): SmallPage {
  const title = `Product ${n} of the shop`;
  const paragraphs = [
    `${title} costs ${(n % 10_000) / 100} EUR. ${WORDS}`,
    `It is ${n % 240} cm wide, weighs ${n % 37} kg and is sent from store ${n % 97}. ${WORDS}`,
    `Number ${n * 7_919} in the catalogue. ${WORDS}`,
  ];
  const body = paragraphs.map((text) => `<p>${text}</p>`).join('\n');
  return {
    url: `https://shop.example/category-${n % 97}/product-${n}`,
    title,
    fetchedAt: CREATED_AT + n,
    headers: { 'content-type': 'text/html; charset=utf-8', server: 'shop', etag: `"${n}"` },
    html: Buffer.from(
      `<!doctype html><html lang="en"><head><title>${title}</title><meta name="description" content="${title}"></head>
<body><nav><a href="/">Home</a> <a href="/category-${n % 97}">Category ${n % 97}</a></nav><h1>${title}</h1>
${body}</body></html>`,
    ),
    markdown: `# ${title}\n\n${paragraphs.join('\n\n')}`,
  };
}

/** The same pages for both sides, as the store has them, made as they are taken. Their bodies are read as from a blob store: later, one by one. */
export const pagesOf = (count: number): PageSource =>
  async function* () {
    for (let n = 0; n < count; n += 1) yield exportPage(n);
  };

function exportPage(n: number): ExportPage {
  const { url, title, fetchedAt, headers, html, markdown } = smallPage(n);
  const record: PageRecord = { metadata: null, links: [], outcome: 'ok', headers, markdown };
  const page: Page = {
    url,
    finalUrl: url,
    statusCode: 200,
    contentType: 'text/html',
    charset: 'utf-8',
    fetchedAt,
    depth: 1,
    contentHash: createHash('sha256').update(html).digest('hex') as ContentHash,
    textHash: null,
    bytes: html.length,
    title,
    etag: null,
    lastModified: null,
    duplicateOf: null,
    errorCode: null,
    errorMessage: null,
    record: packRecord(record),
    taskId: n as TaskId,
    jobSeq: 1 as JobSeq,
  };
  return { page, record: readRecord(page.record), body: async () => html, blob: async () => html };
}
