// Finding the content of pages, in turns with others that do it. usage: node turns.ts ROUNDS STRIDE [FOLDER]
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { decodeText } from '../../src/extract/charset/charset.ts';
import { model } from '../../src/extract/content/model/model.ts';
import { extractFull, type FullOptions } from '../../src/extract/full/extract-full.ts';
import { type ExtractInput, extractPage } from '../../src/extract/scan/extract-page.ts';
import { buildTree } from '../../src/extract/tree/tree-builder.ts';
import { renderPage } from '../../test/site/pages/big.ts';
import { rotated } from '../sample.ts';
import { readPages } from './pages.ts';
import { addTorn, noCounts, type TornCounts } from './torn.ts';

export interface ContentAnswer {
  readonly pages: number;
  readonly meanBytes: number;
  readonly contenders: readonly {
    readonly name: string;
    /** Milliseconds by round and page. */
    readonly ms: readonly (readonly number[])[];
    readonly failures: number;
  }[];
  /** Structures of these pages that the content has in part. */
  readonly torn: TornCounts;
}

/** A program that finds the content of a page. */
interface Contender {
  readonly name: string;
  /** The length of what was found. */
  run(html: string, url: string): Promise<number>;
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
const MOST_FILES = 2_000;
/** Relative dates are none of what is measured. */
const FETCHED_AT = Date.UTC(2026, 0, 1);
const NO_BYTES = new Uint8Array();

const [, , rounds = '3', stride = '1', folder] = process.argv;

function generated(): Page[] {
  return Array.from({ length: GENERATED }, (_, page) => ({
    html: Buffer.from(renderPage(page * 10, SITE_PAGES)).toString('utf8'),
    url: `https://www.site.example/folder/page-${page}.html`,
  }));
}

const OPTIONS: FullOptions = {
  formats: ['content', 'text', 'markdown', 'structured'],
  type: null,
  rules: null,
  parts: null,
  hasLlm: false,
};

/** As a page thread does it when everything is wanted. */
const own: Contender = {
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
    const { links } = extractPage(input);
    const { record } = await extractFull(
      {
        bytes: NO_BYTES,
        html,
        isHtml: true,
        url,
        contentType: HTML_TYPE,
        contentLanguage: null,
        linkHeader: null,
        fetchedAt: FETCHED_AT,
        decode: decodeText,
      },
      OPTIONS,
    );
    return links.length + (record.markdown?.length ?? 0);
  },
};

/** Marked pages with their addresses, or any HTML files. */
function fromFolder(dir: string): Page[] {
  if (existsSync(join(dir, 'ground-truth'))) return readPages(dir);
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.html?(?:\.gz)?$/i.test(name))
    .sort()
    .slice(0, MOST_FILES)
    .map((name) => {
      const bytes = readFileSync(join(dir, name));
      const { text } = decodeText(name.endsWith('.gz') ? gunzipSync(bytes) : bytes, 'text/html');
      return { html: text, url: `https://www.site.example/${encodeURI(name)}` };
    });
}

const { peers } = (await import(new URL('./peers.mjs', import.meta.url).href)) as {
  readonly peers: readonly Contender[];
};
const all: readonly Page[] = folder === undefined ? generated() : fromFolder(folder);
const pages = all.filter((_, index) => index % Number(stride) === 0);
const contenders = [own, ...peers];
const ms = contenders.map(() => [] as number[][]);
const failures = contenders.map(() => 0);
// What the others report about pages they cannot read is not for our output.
console.error = () => {};
console.warn = () => {};
console.log = () => {};

async function time(contender: number, { html, url }: Page): Promise<number> {
  // Documents that are held weakly stay until the event loop turns; without this some keep all of them.
  await turn();
  const startedAt = performance.now();
  try {
    await (contenders[contender] as Contender).run(html, url);
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
const torn = noCounts();
for (const { html, url } of pages) addTorn(torn, buildTree(html), url, model());
const answer: ContentAnswer = {
  pages: pages.length,
  meanBytes: pages.reduce((sum, { html }) => sum + html.length, 0) / pages.length,
  contenders: contenders.map(({ name }, index) => ({
    name,
    ms: ms[index] ?? [],
    failures: failures[index] ?? 0,
  })),
  torn,
};
process.stdout.write(`${JSON.stringify(answer)}\n`);
