// Finding the content of pages, in turns with others that do it. usage: node turns.ts ROUNDS STRIDE [FOLDER]
import { extractContent } from '../../src/extract/content/extract-content.ts';
import { type ExtractInput, extractPage } from '../../src/extract/extract-page.ts';
import { buildTree } from '../../src/extract/tree/tree-builder.ts';
import { renderPage } from '../../test/site/pages/big.ts';
import { rotated } from '../sample.ts';
import { readPages } from './pages.ts';
import { installedPeers, type Peer } from './peers.ts';

export interface ContentAnswer {
  readonly pages: number;
  readonly meanBytes: number;
  readonly contenders: readonly {
    readonly name: string;
    /** Milliseconds by round and page. */
    readonly ms: readonly (readonly number[])[];
    readonly failures: number;
  }[];
}

interface Page {
  readonly html: string;
  readonly url: string;
}

const SITE_PAGES = 4_000;
const GENERATED = 60;
/** Pages that every contender reads before the clock counts. */
const WARM_UP = 30;
const HTML_TYPE = 'text/html; charset=utf-8';

const [, , rounds = '3', stride = '1', folder] = process.argv;

function generated(): Page[] {
  return Array.from({ length: GENERATED }, (_, page) => ({
    html: Buffer.from(renderPage(page * 10, SITE_PAGES)).toString('utf8'),
    url: `https://www.site.example/folder/page-${page}.html`,
  }));
}

const own: Peer = {
  name: 'Scrapifie',
  async run(html, url) {
    const input: ExtractInput = {
      text: html,
      charset: 'utf-8',
      url,
      contentType: HTML_TYPE,
      linkHeader: null,
      xRobotsTag: null,
      formats: ['metadata', 'links'],
    };
    return extractPage(input).links.length + extractContent(buildTree(html), url).markdown.length;
  },
};

const all: readonly Page[] = folder === undefined ? generated() : readPages(folder);
const pages = all.filter((_, index) => index % Number(stride) === 0);
const contenders = [own, ...(await installedPeers())];
const ms = contenders.map(() => [] as number[][]);
const failures = contenders.map(() => 0);
// What the others report about pages they cannot read is not for our output.
console.error = () => {};
console.warn = () => {};
console.log = () => {};

async function time(contender: number, { html, url }: Page): Promise<number> {
  const startedAt = performance.now();
  try {
    await (contenders[contender] as Peer).run(html, url);
  } catch {
    failures[contender] = (failures[contender] as number) + 1;
  }
  return performance.now() - startedAt;
}

for (const page of pages.slice(0, WARM_UP)) for (const index of contenders.keys()) await time(index, page);
failures.fill(0);
for (let round = 0; round < Number(rounds); round++) {
  for (const list of ms) list.push([]);
  for (const [number, page] of pages.entries()) {
    for (const index of rotated([...contenders.keys()], round + number)) {
      const taken = await time(index, page);
      ms[index]?.[round]?.push(taken);
    }
  }
}
const answer: ContentAnswer = {
  pages: pages.length,
  meanBytes: pages.reduce((sum, { html }) => sum + html.length, 0) / pages.length,
  contenders: contenders.map(({ name }, index) => ({
    name,
    ms: ms[index] ?? [],
    failures: failures[index] ?? 0,
  })),
};
process.stdout.write(`${JSON.stringify(answer)}\n`);
