import type {
  ContentRecord,
  DeepRecord,
  ExtractProblem,
  Unanswered,
  ValueOrigin,
} from '../../model/extraction.ts';
import type { Format } from '../../model/job.ts';
import { extractContent, type PageContent } from '../content/extract-content.ts';
import type { OtherContent } from '../other/other-content.ts';
import { type OtherOptions, readOther } from '../other/read-other.ts';
import { applyRules } from '../rules/apply-rules.ts';
import type { CompiledRules } from '../rules/compiled-rules.ts';
import type { RulePage } from '../rules/page-sources.ts';
import type { ValueType } from '../rules/rule-schema.ts';
import { isNothing } from '../rules/transforms.ts';
import { HtmlScanner } from '../scanner.ts';
import { readStructured, type StructuredParts, viewOf } from '../structured/structured-view.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { treeOf } from '../tree/shared-tree.ts';
import { extractTyped } from '../types/extract-typed.ts';
import type { TypeName } from '../types/registry.ts';
import { visibleText } from '../visible-text.ts';

/** What is wanted of a page; the rules are compiled. */
export interface DeepWish {
  readonly formats: readonly Format[];
  readonly type: TypeName | 'auto' | null;
  readonly rules: CompiledRules | null;
  /** Whether somebody can be asked for required fields that the rules leave empty. */
  readonly hasLlm: boolean;
}

export interface DeepReading {
  readonly record: DeepRecord;
  readonly unanswered: Unanswered | null;
}

export interface DeepPage {
  readonly bytes: Uint8Array;
  /** The decoded body; empty for what is no text. */
  readonly html: string;
  /** Whether the body is a web page; everything else is read by its kind. */
  readonly isHtml: boolean;
  readonly url: string;
  readonly contentType: string | null;
  readonly contentLanguage: string | null;
  readonly linkHeader: string | null;
  readonly fetchedAt: number;
  readonly decode: OtherOptions['decode'];
}

const WORDS_PER_MINUTE = 230;
const scanner = new HtmlScanner();

/**
 * Reads the main content, the structured data, a typed thing and what rules ask for: only what is wanted, and the tree
 * they all need is built once. Throws EXTRACTION_FAILED when rules cost more than they may.
 */
export async function readDeep(page: DeepPage, wish: DeepWish): Promise<DeepReading> {
  if (page.isHtml) return readHtml(page, wish);
  const other = await readOther(page.bytes, page.contentType, page.url, page);
  return other === null ? readHtml(page, wish) : readBody(page, other, wish);
}

function readHtml(page: DeepPage, wish: DeepWish): DeepReading {
  const tree = treeOf(page.html);
  const has = (format: Format) => wish.formats.includes(format);
  const { contentLanguage, linkHeader, url } = page;
  let found: PageContent | null = null;
  const content = () => {
    found ??= extractContent(tree, url, { contentLanguage });
    return found;
  };
  let parts: StructuredParts | null = null;
  const structured = () => {
    parts ??= readStructured(tree, url, { linkHeader });
    return parts;
  };
  const record: DeepRecord = {
    ...(has('text') ? { text: content().text } : {}),
    ...(has('markdown') ? { markdown: content().markdown } : {}),
    ...(has('content') ? { content: contentRecord(content()) } : {}),
    ...(has('structured') ? { structured: viewOf(structured()) } : {}),
    ...extracted(page, { tree, structured, contentText: () => content().text }, undefined, wish),
  };
  return { record, unanswered: unansweredOf(record, wish, () => content().markdown) };
}

function readBody(page: DeepPage, other: OtherContent, wish: DeepWish): DeepReading {
  const has = (format: Format) => wish.formats.includes(format);
  const { kind, feed, table, json, pageCount, problems } = other;
  const record: DeepRecord = {
    ...(has('text') ? { text: other.text } : {}),
    ...(has('markdown') ? { markdown: other.markdown } : {}),
    ...(has('content') ? { content: bodyRecord(other) } : {}),
    ...(has('structured') ? { structured: { kind, feed, table, json, pageCount, problems } } : {}),
    ...extracted(page, null, other, wish),
  };
  return { record, unanswered: unansweredOf(record, wish, () => other.markdown) };
}

/** Longer pages are cut anyway before anybody reads them. */
const MOST_TEXT_CHARS = 400_000;

function unansweredOf(
  { extracted: value }: DeepRecord,
  { rules, hasLlm }: DeepWish,
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

/** What several readers of a web page share, each part made when it is first asked for. */
interface PageParts {
  readonly tree: PageTree;
  readonly structured: () => StructuredParts;
  readonly contentText: () => string;
}

/** What the rules find stands over what the type found under the same name: they were written for this very page. */
function extracted(
  page: DeepPage,
  parts: PageParts | null,
  other: OtherContent | undefined,
  { type, rules }: DeepWish,
): Pick<DeepRecord, 'extracted' | 'extractedType' | 'extractedBy' | 'extractProblems'> {
  if (type === null && rules === null) return {};
  const { url, fetchedAt } = page;
  const value: Record<string, unknown> = {};
  const by: Record<string, ValueOrigin> = {};
  const problems: ExtractProblem[] = [];
  let found: string | null = null;
  if (type !== null && parts !== null) {
    const { tree, contentText } = parts;
    const typed = extractTyped({ tree, url, fetchedAt, structured: parts.structured(), contentText }, type);
    found = typed.type;
    Object.assign(value, typed.value);
    Object.assign(by, typed.by);
    problems.push(...typed.problems.map(({ field, message }) => ({ path: field, message })));
  }
  if (rules !== null) {
    const read = applyRules(rules, rulePage(page, parts?.tree ?? null, other), {
      now: () => performance.now(),
    });
    Object.assign(value, read.value);
    for (const [path, { source }] of Object.entries(read.found)) by[path] = { source, confidence: 1 };
    problems.push(...read.problems.map(({ path, message }) => ({ path, message })));
  }
  const hasValue = rules !== null || found !== null;
  return {
    extracted: hasValue ? value : null,
    ...(type === null ? {} : { extractedType: found }),
    extractedBy: by,
    ...(problems.length === 0 ? {} : { extractProblems: problems }),
  };
}

function rulePage(page: DeepPage, tree: PageTree | null, other: OtherContent | undefined): RulePage {
  const { html, url, fetchedAt, contentLanguage } = page;
  let text: string | null = null;
  return {
    tree,
    url,
    body: html,
    get text() {
      text ??= other?.text ?? visibleText(scanner, html);
      return text;
    },
    ...(other !== undefined && 'json' in other ? { json: other.json } : {}),
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
}: OtherContent): ContentRecord {
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
