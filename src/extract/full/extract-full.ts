import type {
  ContentRecord,
  DeepRecord,
  ExtractProblem,
  PageWarning,
  Unanswered,
  ValueOrigin,
} from '../../core/model/extraction.ts';
import type { Format } from '../../core/model/job.ts';
import { extractContent, type PageContent } from '../content/extract-content.ts';
import type { DocumentContent } from '../documents/document-content.ts';
import { type DocumentOptions, readDocument } from '../documents/read-document.ts';
import { xmlPageTree } from '../documents/xml-tree.ts';
import { HtmlScanner } from '../html/scanner.ts';
import { visibleText } from '../html/visible-text.ts';
import { applyExtractionRules } from '../rules/apply-rules.ts';
import { Budget } from '../rules/budget.ts';
import type { CompiledRules } from '../rules/compile-alternative.ts';
import type { RulePage } from '../rules/page-sources.ts';
import type { ValueType } from '../rules/rule-schema.ts';
import { isNothing } from '../rules/transforms.ts';
import { readStructured, type StructuredParts, viewOf } from '../structured/structured-view.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { treeOf } from '../tree/tree-builder.ts';
import { extractTyped, type TypeSpecs } from '../types/extract-typed.ts';
import { type CompiledParts, SelectedParts } from './page-parts.ts';

/** What to extract from a page beyond the one pass; the rules are compiled already. */
export interface FullOptions {
  readonly formats: readonly Format[];
  /** A name among `types`, or `auto`. */
  readonly type: string | null;
  /** Left out: our own. */
  readonly types?: TypeSpecs;
  readonly rules: CompiledRules | null;
  /** When null, the main content is meant. */
  readonly parts: CompiledParts | null;
  /** True when a language model may fill required fields that the rules left empty. */
  readonly hasLlm: boolean;
  /** Left out: those of PDF_LIMITS. */
  readonly maxPdfPages?: number;
}

export interface FullExtraction {
  readonly record: DeepRecord;
  readonly unanswered: Unanswered | null;
}

export interface FullInput {
  readonly bytes: Uint8Array;
  /** The decoded body; empty for binary bodies. */
  readonly html: string;
  /** True for web pages; other bodies are read by `documents`. */
  readonly isHtml: boolean;
  readonly url: string;
  readonly contentType: string | null;
  readonly contentLanguage: string | null;
  readonly linkHeader: string | null;
  readonly fetchedAt: number;
  readonly decode: DocumentOptions['decode'];
}

const WORDS_PER_MINUTE = 230;
const scanner = new HtmlScanner();
const TREE_CUT: PageWarning = {
  code: 'page-cut',
  message:
    'The page has more elements, or nests them deeper, than are read; what lies beyond is not in the results.',
};

/**
 * Extracts the main content, structured data, a typed record and the fields of rules: only what the options ask for,
 * from one shared tree. Throws EXTRACTION_FAILED when the rules exceed their budget.
 */
export async function extractFull(page: FullInput, options: FullOptions): Promise<FullExtraction> {
  if (page.isHtml) return readHtml(page, options);
  const document = await readDocument(page.bytes, page.contentType, page.url, {
    ...page,
    ...(options.maxPdfPages === undefined ? {} : { pdf: { pages: options.maxPdfPages } }),
  });
  return document === null ? readHtml(page, options) : readBody(page, document, options);
}

function readHtml(page: FullInput, options: FullOptions): FullExtraction {
  const tree = treeOf(page.html);
  const has = (format: Format) => options.formats.includes(format);
  const { contentLanguage, linkHeader, url } = page;
  // Selectors of the request have a budget of their own, beside that of the rules.
  const parts =
    options.parts === null
      ? null
      : new SelectedParts(tree, url, options.parts, new Budget({ now: () => performance.now() }));
  const main = () => extractContent(tree, url, { contentLanguage });
  let found: PageContent | null = null;
  const content = () => {
    found ??= parts?.content(contentLanguage) ?? main();
    return found;
  };
  let read: StructuredParts | null = null;
  const structured = () => {
    read ??= readStructured(tree, url, { linkHeader });
    return read;
  };
  // A typed record is of the page, whatever part of it was asked for.
  const contentText = () => (parts === null ? content() : main()).text;
  const record: DeepRecord = {
    ...(has('html') && parts?.hasSelectors ? { html: parts.html() } : {}),
    ...(has('text') ? { text: content().text } : {}),
    ...(has('markdown') ? { markdown: content().markdown } : {}),
    ...(has('content') ? { content: contentRecord(content()) } : {}),
    ...(has('structured') ? { structured: viewOf(structured()) } : {}),
    ...extracted(page, { tree, structured, contentText }, undefined, options),
    ...(tree.isTruncated ? { warnings: [TREE_CUT] } : {}),
  };
  return { record, unanswered: unansweredOf(record, options, () => content().markdown) };
}

function readBody(page: FullInput, document: DocumentContent, options: FullOptions): FullExtraction {
  const has = (format: Format) => options.formats.includes(format);
  const { kind, feed, table, json, pageCount, pagesRead, problems } = document;
  const record: DeepRecord = {
    ...(has('text') ? { text: document.text } : {}),
    ...(has('markdown') ? { markdown: document.markdown } : {}),
    ...(has('content') ? { content: bodyRecord(document) } : {}),
    ...(has('structured') ? { structured: { kind, feed, table, json, pageCount, problems } } : {}),
    ...extracted(page, null, document, options),
    ...(problems.length === 0 ? {} : { warnings: problems }),
    ...(pageCount === undefined ? {} : { pdfPages: { read: pagesRead ?? 0, total: pageCount } }),
  };
  return { record, unanswered: unansweredOf(record, options, () => document.markdown) };
}

/** The prompt of a language model is cut below this anyway. */
const MOST_TEXT_CHARS = 400_000;

function unansweredOf(
  { extracted: value }: DeepRecord,
  { rules, hasLlm }: FullOptions,
  text: () => string,
): Unanswered | null {
  if (!hasLlm || rules === null) return null;
  const missing = rules.fields.filter(({ name, isRequired }) => isRequired && isNothing(value?.[name]));
  if (missing.length === 0) return null;
  const properties = Object.fromEntries(
    missing.map(({ name, type, isList }) => [name, schemaFor(type, isList)]),
  );
  return { properties, text: text().slice(0, MOST_TEXT_CHARS) };
}

const NUMERIC: ReadonlySet<string> = new Set(['number', 'price']);

function schemaFor(type: ValueType | null, isList: boolean): Readonly<Record<string, unknown>> {
  const one = {
    type:
      type === 'integer'
        ? 'integer'
        : type === 'bool'
          ? 'boolean'
          : NUMERIC.has(type ?? '')
            ? 'number'
            : 'string',
  };
  return isList ? { type: 'array', items: one } : one;
}

/** Parts of a web page that several readers share; each is computed on first use. */
interface PageParts {
  readonly tree: PageTree;
  readonly structured: () => StructuredParts;
  readonly contentText: () => string;
}

/** Fields of rules overwrite typed fields of the same name: rules were written for this very page. */
function extracted(
  page: FullInput,
  parts: PageParts | null,
  document: DocumentContent | undefined,
  { type, types, rules }: FullOptions,
): Pick<
  DeepRecord,
  'extracted' | 'extractedType' | 'extractedProbability' | 'extractedBy' | 'extractProblems'
> {
  if (type === null && rules === null) return {};
  const { url, fetchedAt } = page;
  const value: Record<string, unknown> = {};
  const by: Record<string, ValueOrigin> = {};
  const problems: ExtractProblem[] = [];
  let found: string | null = null;
  let probability = 0;
  if (type !== null && parts !== null) {
    const { tree, contentText } = parts;
    const typed = extractTyped(
      { tree, url, fetchedAt, structured: parts.structured(), contentText },
      type,
      types,
    );
    found = typed.type;
    probability = typed.confidence;
    Object.assign(value, typed.value);
    Object.assign(by, typed.by);
    problems.push(
      ...typed.problems.map(({ field, message, code }) => ({
        path: field,
        message,
        ...(code === undefined ? {} : { code }),
      })),
    );
  }
  if (rules !== null) {
    const read = applyExtractionRules(rules, rulePage(page, parts?.tree ?? null, document), {
      now: () => performance.now(),
    });
    Object.assign(value, read.value);
    for (const [path, { source }] of Object.entries(read.found)) by[path] = { source, confidence: 1 };
    problems.push(...read.problems.map(({ path, message }) => ({ path, message })));
  }
  const hasValue = rules !== null || found !== null;
  return {
    extracted: hasValue ? value : null,
    ...(type === null ? {} : { extractedType: found, extractedProbability: probability }),
    extractedBy: by,
    ...(problems.length === 0 ? {} : { extractProblems: problems }),
  };
}

function rulePage(page: FullInput, tree: PageTree | null, document: DocumentContent | undefined): RulePage {
  const { html, url, fetchedAt, contentLanguage } = page;
  let text: string | null = null;
  let found = tree;
  return {
    get tree() {
      if (document?.xml !== undefined) found ??= xmlPageTree(document.xml);
      return found;
    },
    url,
    body: html,
    get text() {
      text ??= document?.text ?? visibleText(scanner, html);
      return text;
    },
    ...(document !== undefined && 'json' in document ? { json: document.json } : {}),
    fetchedAt,
    language: contentLanguage,
  };
}

function contentRecord(content: PageContent): ContentRecord {
  const { html, text, title, author, publishedAt, modifiedAt, siteName, language, excerpt } = content;
  const { wordCount, readingMinutes, pageType } = content;
  return {
    html,
    text,
    title,
    author,
    publishedAt,
    modifiedAt,
    siteName,
    language,
    excerpt,
    wordCount,
    readingMinutes,
    pageType,
  };
}

function bodyRecord({
  kind,
  text,
  title,
  author,
  publishedAt,
  modifiedAt,
  language,
}: DocumentContent): ContentRecord {
  const wordCount = text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0;
  return {
    html: null,
    text,
    title,
    author,
    publishedAt,
    modifiedAt,
    siteName: null,
    language,
    excerpt: null,
    wordCount,
    readingMinutes: wordCount === 0 ? 0 : Math.max(1, Math.round(wordCount / WORDS_PER_MINUTE)),
    pageType: kind,
  };
}
