// Extraction and plain parsing of the same pages, in turns. usage: node turns.ts ROUNDS [FOLDER]
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Parser } from 'htmlparser2';
import { decodeText } from '../../src/extract/charset/charset.ts';
import { type ExtractInput, extractPage } from '../../src/extract/scan/extract-page.ts';
import { renderPage } from '../../test/site/pages/big.ts';

export interface ExtractAnswer {
  readonly sets: readonly {
    readonly name: string;
    readonly pages: number;
    readonly meanBytes: number;
    /** Milliseconds a page, one value per round. */
    readonly own: readonly number[];
    readonly plain: readonly number[];
  }[];
}

interface PageSet {
  readonly name: string;
  readonly texts: readonly string[];
  readonly bytes: number;
}

const SITE_PAGES = 4_000;
const GENERATED = 400;
const HTML_TYPE = 'text/html; charset=utf-8';
const MOST_FILES = 2_000;

const [, , rounds = '20', folder] = process.argv;

function generated(): PageSet {
  const bodies = Array.from({ length: GENERATED }, (_, page) => renderPage(page * 10, SITE_PAGES));
  return setOf('generated', bodies, HTML_TYPE);
}

function fromFolder(dir: string): PageSet {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.html?$/i.test(name))
    .sort()
    .slice(0, MOST_FILES);
  const bodies = files.map((name) => readFileSync(join(dir, name)));
  // What the server said of their charset is not in the files.
  return setOf('real', bodies, 'text/html');
}

function setOf(name: string, bodies: readonly Uint8Array[], contentType: string): PageSet {
  const texts = bodies.map((body) => decodeText(body, contentType).text);
  return { name, texts, bytes: bodies.reduce((sum, body) => sum + body.byteLength, 0) };
}

function plain(html: string): number {
  let found = 0;
  let isTitle = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'title') isTitle = true;
      if (name === 'a' && attributes.href !== undefined) found += attributes.href.length;
    },
    ontext(text) {
      if (isTitle) found += text.length;
    },
    onclosetag(name) {
      if (name === 'title') isTitle = false;
    },
  });
  parser.end(html);
  return found;
}

function own(html: string): number {
  const input: ExtractInput = {
    text: html,
    charset: 'utf-8',
    url: 'https://www.site.example/folder/page.html',
    contentType: HTML_TYPE,
    linkHeader: null,
    xRobotsTag: null,
    formats: ['metadata', 'links'],
  };
  return extractPage(input).links.length;
}

/** Kept, so that no result is thought to be unused. */
let sink = 0;

function msPerPage(texts: readonly string[], read: (html: string) => number): number {
  const startedAt = performance.now();
  for (const text of texts) sink += read(text);
  return (performance.now() - startedAt) / texts.length;
}

const sets = [generated(), ...(folder === undefined ? [] : [fromFolder(folder)])].map((set) => {
  const times = { own: [] as number[], plain: [] as number[] };
  // The first round is for the compiler.
  for (let round = -1; round < Number(rounds); round++) {
    const ownMs = msPerPage(set.texts, own);
    const plainMs = msPerPage(set.texts, plain);
    if (round < 0) continue;
    times.own.push(ownMs);
    times.plain.push(plainMs);
  }
  return { name: set.name, pages: set.texts.length, meanBytes: set.bytes / set.texts.length, ...times };
});
process.stdout.write(`${JSON.stringify({ sets, sink } satisfies ExtractAnswer & { sink: number })}\n`);
