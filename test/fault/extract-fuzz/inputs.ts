import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { GOLDEN_PAGES } from '../../../src/extract/content/golden-pages.fixture.ts';
import { makePdf } from '../../../src/extract/documents/pdf/pdf.fixture.ts';
import { randomFrom } from '../../site/random.ts';
import { BOMBS } from './bombs.ts';
import { documents } from './documents.ts';
import { mutant, mutantBytes } from './mutants.ts';
import { OTHER_BODIES } from './other-bodies.ts';

export interface FuzzInput {
  readonly kind: 'document' | 'mutant' | 'bomb' | 'whole page' | 'other' | 'pdf';
  readonly body: Uint8Array<ArrayBuffer>;
  readonly contentType: string | null;
}

export interface FuzzInputs {
  /** The same for the same number, whatever was asked for before. */
  at(index: number): FuzzInput;
  /** Pages that mutants are made of. */
  readonly pages: number;
}

const OWN_PAGES = fileURLToPath(new URL('../../goldens/pages/', import.meta.url));
/** Most mutants are parts of pages, so that there can be many. */
const PART_CHARS = 10_000;
const WHOLE_EVERY = 400;
const PDF_EVERY = 1_000;
const BOMB_EVERY = 250;
const MOST_TIMES = 20_000;
const DOCUMENT_SHARE = 0.4;
const OTHER_SHARE = 0.1;
const DOCUMENTS_AT_ONCE = 200;
const TYPES = ['text/html; charset=utf-8', 'text/html', null, 'application/xhtml+xml', 'text/plain'];
const PDF = makePdf({
  pages: [[[20, 'A heading']], [[10, 'Text of the second page.']]],
  info: { Title: 'Of paper' },
  isCompressed: true,
});

/** Reads `.html` and `.html.gz` files of a folder and all below it. */
function readHtml(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.html?(?:\.gz)?$/.test(name))
    .sort()
    .map((name) => {
      const bytes = readFileSync(join(folder, name));
      return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    });
}

/** Documents by fast-check, mutants of the pages of the tests and of `pagesDir`, bodies that are no pages, and bombs. */
export function fuzzInputs(seed: number, pagesDir: string | null): FuzzInputs {
  const pages = [
    ...GOLDEN_PAGES.map(({ html }) => html),
    ...readHtml(OWN_PAGES),
    ...(pagesDir === null ? [] : readHtml(pagesDir)),
  ];
  let batch: { readonly number: number; readonly texts: readonly string[] } = { number: -1, texts: [] };
  const document = (index: number): string => {
    const number = Math.floor(index / DOCUMENTS_AT_ONCE);
    if (batch.number !== number)
      batch = { number, texts: fc.sample(documents, { seed: seed + number, numRuns: DOCUMENTS_AT_ONCE }) };
    return batch.texts[index % DOCUMENTS_AT_ONCE] ?? '';
  };
  const text = (kind: FuzzInput['kind'], written: string, contentType: string | null): FuzzInput => ({
    kind,
    body: new TextEncoder().encode(written),
    contentType,
  });
  return {
    pages: pages.length,
    at(index) {
      const random = randomFrom(Math.imul(seed + 1, 0x9e3779b1) ^ index);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
      if (index % PDF_EVERY === PDF_EVERY - 1)
        return { kind: 'pdf', body: mutantBytes(PDF, random), contentType: 'application/pdf' };
      const contentType = random() < 0.8 ? (TYPES[0] as string) : pick(TYPES);
      if (index % WHOLE_EVERY === WHOLE_EVERY - 1)
        return text('whole page', mutant(pick(pages), random), contentType);
      if (index % BOMB_EVERY === BOMB_EVERY - 2)
        return text('bomb', pick(BOMBS)(Math.ceil(random() ** 2 * MOST_TIMES)), contentType);
      const share = random();
      if (share < DOCUMENT_SHARE) return text('document', document(index), contentType);
      if (share < DOCUMENT_SHARE + OTHER_SHARE) {
        const { body, type } = pick(OTHER_BODIES);
        if (random() < 0.5) return text('other', mutant(body, random), type);
        return {
          kind: 'other',
          body: mutantBytes(new TextEncoder().encode(body), random),
          contentType: type,
        };
      }
      const page = pick(pages);
      const start = random() < 0.5 ? 0 : Math.floor(random() * Math.max(1, page.length - PART_CHARS));
      return text('mutant', mutant(page.slice(start, start + PART_CHARS), random), contentType);
    },
  };
}
