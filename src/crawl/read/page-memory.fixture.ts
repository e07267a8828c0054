import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MessageChannel, parentPort, workerData } from 'node:worker_threads';
import type { Format } from '../../core/model/job.ts';
import { startPageThread } from './page-thread.ts';
import { keyOf, requestFor } from './read-request.fixture.ts';
import type { ReadAnswer, ReadCall } from './thread-messages.ts';

/**
 * A thread that reads long pages, each unlike all others, by the code of the real thread, and tells its heap after a
 * collection: when the first ones were read, and when all were.
 */
export interface PageMemoryData {
  readonly kind: PageKind;
  readonly pages: number;
  /** Length of the text that each page has besides what it says. */
  readonly fillerChars: number;
}

export interface PageMemory {
  readonly failures: readonly string[];
  readonly firstBytes: number;
  readonly lastBytes: number;
}

/** Pages by what of them might be kept. */
const KINDS = {
  page: {
    contentType: 'text/html',
    formats: ['metadata', 'links', 'html', 'text', 'markdown', 'content', 'structured'],
    write: (n: number, filler: string) =>
      `<!doctype html><html lang="en-x-number${n}"><meta charset="charset-of-page-${n}"><title>The page number ${n}</title>
      <link rel="canonical" href="http://site.test/the/canonical/page-${n}"><!-- ${filler} -->
      <body class="class-of-the-page-${n}" id="id-of-the-page-${n}"><h1>The heading number ${n}</h1>
      <a href="https://site-${n}.example.com/a/page">Another site</a> <a href="//site-${n}.example.org/a/page">Without a scheme</a>
      <a href="http://site.test/absolute/page-${n}?a=1">Absolute</a> <a href="/rooted/page-${n}?color=red${n}&size=l&cut=slim">Rooted</a>
      <a href="relative/page-${n}?date=2026-11-${n}" rel="nofollow">Relative</a>
      <article><p class="lead-of-the-page-${n}">Words of an article, and some more of them, published on 3 March 2026.</p></article>
      <script type="application/ld+json">{"@type":"Product","name":"The product number ${n}","offers":{"price":"1.${n}","priceCurrency":"EUR"}}</script>
      <div itemscope itemtype="https://schema.org/Thing"><b itemprop="name">The thing number ${n}</b></div>`,
  },
  links: {
    contentType: 'text/html',
    formats: [],
    write: (n: number, filler: string) =>
      `<!doctype html><title>The page number ${n}</title><a href="https://site-${n}.example.com/a/page">Another site</a><!-- ${filler} -->`,
  },
  feed: {
    contentType: 'application/rss+xml',
    formats: ['markdown', 'structured'],
    write: (n: number, filler: string) =>
      `<rss version="2.0"><channel><title>The feed number ${n}</title><language>en-x-number${n}</language><!-- ${filler} -->
      <item><title>The item number ${n}</title><link>https://site-${n}.example.com/an/item</link>
      <pubDate>Tue, 03 Mar 2026 10:00:00 GMT</pubDate></item></channel></rss>`,
  },
  sitemap: {
    contentType: 'application/xml',
    formats: [],
    write: (n: number, filler: string) =>
      `<urlset><!-- ${filler} --><url><loc>http://site.test/from/the/map-${n}</loc></url><url><loc>https://site-${n}.example.com/</loc></url></urlset>`,
  },
  table: {
    contentType: 'text/csv',
    formats: ['markdown', 'structured'],
    write: (n: number, filler: string) =>
      `name number ${n},link\n"${filler}",https://site-${n}.example.com/of/a/table\nnext,last\n`,
  },
} as const satisfies Record<
  string,
  { contentType: string; formats: readonly Format[]; write: (n: number, filler: string) => string }
>;

export type PageKind = keyof typeof KINDS;
export const PAGE_KINDS = Object.keys(KINDS) as PageKind[];

const TOGETHER = 16;
/** Read before the heap is looked at: by then everything is loaded and compiled. */
const FIRST = 32;

if (parentPort !== null && workerData !== null) {
  parentPort.postMessage(await measure(workerData as PageMemoryData));
}

async function measure({ kind, pages, fillerChars }: PageMemoryData): Promise<PageMemory> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // A text with one character of these takes two bytes for each.
  const filler = '–'.padEnd(fillerChars, 'words of the page ');
  const { port1, port2 } = new MessageChannel();
  startPageThread({
    port: port2,
    reading: new Int32Array(new SharedArrayBuffer(4)),
    blobs: null,
    loadTypes: null,
  });
  const failures: string[] = [];
  let read = 0;
  let answered = Promise.withResolvers<void>();
  port1.on('message', (message: readonly ReadAnswer[]) => {
    if (!Array.isArray(message)) return;
    for (const answer of message as readonly ReadAnswer[])
      if ('code' in answer) failures.push(answer.message);
    read += message.length;
    answered.resolve();
    answered = Promise.withResolvers();
  });
  const upTo = async (end: number): Promise<number> => {
    while (read < end) {
      const calls = Array.from({ length: Math.min(TOGETHER, end - read) }, (_, at) =>
        callOf(kind, read + at, filler),
      );
      const until = read + calls.length;
      port1.postMessage(calls);
      while (read < until) await answered.promise;
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const firstBytes = await upTo(FIRST);
  const lastBytes = await upTo(FIRST + pages);
  port1.close();
  return { failures, firstBytes, lastBytes };
}

function callOf(kind: PageKind, n: number, filler: string): ReadCall {
  const { contentType, formats, write } = KINDS[kind];
  const url = `http://site.test/page-${n}`;
  const { job, task, response, fetchedAt } = requestFor({
    body: write(n, filler),
    task: { url, urlKey: keyOf(url), kind: kind === 'sitemap' ? 'sitemap' : 'page' },
    page: {
      formats: [...formats] as Format[],
      extract: { rules: null, schema: null, type: 'auto', llm: false },
    },
    scope: { avoidQueryTraps: true },
    response: { contentType, finalUrl: url },
  });
  const { seq, generation, incarnation, ...rest } = job;
  return {
    id: n + 1,
    seq,
    generation,
    incarnation,
    job: JSON.stringify(rest),
    request: { task, response, fetchedAt },
  };
}
