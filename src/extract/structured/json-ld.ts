import { decodeHTML } from 'entities/decode';
import { LIMITS } from '../html/limits.ts';
import { readLiteral } from './embedded/literal-reader.ts';
import { skipBlank } from './embedded/literal-text.ts';

const WRAPPERS =
  /^\s*(?:\/[/*]\s*)?(?:<!--|<!\[CDATA\[)(?:\s*\*\/)?|(?:\/[/*]\s*)?(?:-->|\]\]>)(?:\s*\*\/)?\s*$/g;
const OPENS = /^[[{]/;
/** Documents written one after another in one block. */
const MAX_DOCUMENTS = 64;

export interface JsonLdBlock {
  /** The documents of the block; none when it cannot be repaired, is too large or nests too deep. */
  readonly documents: readonly object[];
  /** Kinds of repairs that were needed; empty for valid JSON. */
  readonly repairs: readonly string[];
}

/** The value of a JSON-LD block; undefined when it has none. Several documents in one block are a list. */
export function parseJsonLd(source: string): unknown {
  const { documents } = readJsonLd(source);
  return documents.length > 1 ? documents : documents[0];
}

/**
 * Reads a block of JSON-LD, and repairs mistakes that have only one possible meaning: wrappers, comments, commas, raw control
 * characters, bare keys, single quotes that cannot be apostrophes, quotes inside texts, documents side by side.
 */
export function readJsonLd(source: string): JsonLdBlock {
  if (source.length > LIMITS.jsonLdChars) return { documents: [], repairs: [] };
  const valid = parse(source);
  if (valid !== undefined) return { documents: usable(valid), repairs: [] };
  const bare = source.replace(WRAPPERS, '');
  const unwrapped = parse(bare);
  if (unwrapped !== undefined) return { documents: usable(unwrapped), repairs: ['wrapper'] };
  // Scripts hold no entities, so a block without any quote but with their entities was escaped once too often.
  const isEscaped = !bare.includes('"') && bare.includes('&quot;');
  const mended = readDocuments(isEscaped ? decodeHTML(bare) : bare);
  return mended === null || !isEscaped
    ? (mended ?? { documents: [], repairs: [] })
    : withRepair(mended, 'entities');
}

function readDocuments(source: string): JsonLdBlock | null {
  const documents: object[] = [];
  const repairs = new Set<string>();
  let at = 0;
  while (documents.length < MAX_DOCUMENTS) {
    at = skipBlank(source, at, source.length);
    while (documents.length > 0 && (source[at] === ',' || source[at] === ';')) {
      at = skipBlank(source, at + 1, source.length);
    }
    if (at >= source.length) break;
    if (!OPENS.test(source.slice(at, at + 1))) return null;
    const literal = readLiteral(source, at, { dialect: 'json', depth: LIMITS.jsonLdDepth + 1 });
    if (literal === null) return null;
    documents.push(...usable(literal.value));
    for (const repair of literal.repairs) repairs.add(repair);
    at = literal.end;
  }
  if (documents.length > 1) repairs.add('several documents');
  else if (repairs.size === 0) repairs.add('wrapper');
  return documents.length === 0 ? null : { documents, repairs: [...repairs] };
}

function withRepair({ documents, repairs }: JsonLdBlock, repair: string): JsonLdBlock {
  return { documents, repairs: [repair, ...repairs] };
}

function parse(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}

function usable(value: unknown): object[] {
  return value !== null && typeof value === 'object' && isShallow(value, LIMITS.jsonLdDepth) ? [value] : [];
}

/** JSON.parse accepts any depth, but JSON.stringify of such a value exhausts the stack. */
function isShallow(value: object, depth: number): boolean {
  if (depth === 0) return false;
  for (const child of Object.values(value) as unknown[]) {
    if (child !== null && typeof child === 'object' && !isShallow(child, depth - 1)) return false;
  }
  return true;
}
