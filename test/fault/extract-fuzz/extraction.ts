import { isScrapifieError } from '../../../src/core/errors/scrapifie-error.ts';
import type { Format } from '../../../src/core/model/job.ts';
import { unpackRecord } from '../../../src/core/model/page-record.ts';
import { compileRules } from '../../../src/crawl/read/find-tasks.ts';
import { fullOptionsOf, readFull } from '../../../src/crawl/read/read-full.ts';
import { decodeBody, readPageTask } from '../../../src/crawl/read/read-page.ts';
import { FETCHED_AT, requestFor } from '../../../src/crawl/read/read-request.fixture.ts';
import { contentKindOf } from '../../../src/extract/html/media-type.ts';
import { readStructured } from '../../../src/extract/structured/structured-view.ts';
import { buildTree } from '../../../src/extract/tree/tree-builder.ts';
import { extractTyped, TYPE_NAMES } from '../../../src/extract/types/extract-typed.ts';
import type { FuzzInput } from './inputs.ts';

const FORMATS: readonly Format[] = ['metadata', 'links', 'html', 'text', 'markdown', 'content', 'structured'];
/** Every language, source, type and shape that rules have. */
const RULES = {
  title: {
    css: 'h1, title',
    required: true,
    fallbacks: ['[itemprop=name]', 'meta[property="og:title"]@content'],
  },
  links: { css: 'a[href]', attribute: 'href', list: true, limit: 50, type: 'url', transforms: ['unique'] },
  blocks: {
    css: 'div:has(> p), li:nth-child(2n+1), article > *:not(.x)',
    list: true,
    fields: {
      text: { css: ':scope', attribute: 'rawText' },
      html: { css: '*', attribute: 'outerHtml' },
      price: { regex: '(\\d[\\d.,]*)\\s*(?:€|\\$)', type: 'price' },
      previous: 'xpath:preceding-sibling::*[1]/@class',
    },
  },
  count: 'xpath:count(//*[contains(@class, "x")] | //text()[normalize-space()])',
  ancestors: { xpath: '//p/ancestor::*[last()]//b[position() < 3]', list: true, limit: 20 },
  prices: { regex: '(?P<amount>\\d+[.,]\\d\\d)', from: 'html', list: true, limit: 20 },
  when: { css: 'time', attribute: 'datetime', type: 'date', default: null },
  names: { jsonpath: '$..name', list: true, limit: 50 },
  offers: { jsonpath: '$..[?@.price || length(@.name) > 2]', from: 'json-ld', list: true, type: 'json' },
  state: { jsonpath: '$..*', from: 'embedded', list: true, limit: 100 },
  response: { jsonpath: '$', from: 'response' },
  words: { css: 'body', transforms: ['collapse', { split: ' ' }, { slice: [0, 5] }, { join: '-' }] },
};
const SCHEMA = { type: 'object', properties: { title: { type: 'string', minLength: 2 } } };

const page = {
  formats: FORMATS,
  extract: { type: 'auto', rules: RULES, schema: SCHEMA, llm: true },
} as const;
const job = requestFor({ page: { ...page, formats: [...FORMATS] } }).job;
const wish = fullOptionsOf(job.options.page);
if (wish.rules === null) throw new Error('The rules of the fuzzing are no rules.');

/** What an input came to. */
export interface Extraction {
  /** The result, written as JSON. */
  readonly written: string;
  /** The code of an error that says what is wrong with the page; null without. */
  readonly code: string | null;
}

/** All that a page can be asked for, by the way that the threads of a crawl go, and every type besides. */
export async function extractAll({ body, contentType }: FuzzInput): Promise<Extraction> {
  const request = { ...requestFor({ body, response: { contentType } }), job };
  const decoded = decodeBody(request);
  try {
    const { record, unanswered } = await readFull(request, decoded, wish);
    const reading = readPageTask(request, compileRules(job), null, record, decoded);
    const types = contentKindOf(contentType, decoded.text) === 'html' ? everyType(decoded.text) : [];
    const { record: packed, ...rest } = reading.page;
    const kept = packed === null ? '' : unpackRecord(packed).toString('utf8');
    return { written: kept + JSON.stringify({ ...reading, page: rest, unanswered, types }), code: null };
  } catch (error) {
    if (!isScrapifieError(error)) throw error;
    return { written: error.message, code: error.code };
  }
}

function everyType(html: string): unknown[] {
  const url = 'http://site.test/page';
  const tree = buildTree(html);
  const structured = readStructured(tree, url);
  return TYPE_NAMES.map((name) => extractTyped({ tree, url, fetchedAt: FETCHED_AT, structured }, name));
}
