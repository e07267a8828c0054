import type { PageRecord } from './page.ts';
import { unpackRecord } from './page-record.ts';
import { wordsOf } from './search-words.ts';

/** Words of a page that are indexed. PostgreSQL tells no more positions apart, and both stores are to find the same. */
export const MOST_BODY_WORDS = 16_000;
export const MOST_TITLE_WORDS = 200;
/** Texts of pages that show nothing of the page. */
const LEAST_WORDS = 1;

/** What the index gets of a page: its words, in their order. */
export interface SearchDocument {
  readonly title: readonly string[];
  readonly body: readonly string[];
}

/**
 * The text that pages are searched by: the main content where the job has kept it, else all visible text, which is read
 * from the body. Records of earlier versions have it as `searchText`.
 */
export const searchTextOf = (
  { content, text, searchText, markdown }: PageRecord,
  bodyText: () => string = () => '',
): string => content?.text ?? text ?? searchText ?? (bodyText() || (markdown ?? ''));

/** Returns null for a page that is not searched for: a block, a login wall, an error page, or a page without text. */
export function searchDocumentOf(
  title: string | null,
  packed: Uint8Array,
  bodyText?: () => string,
): SearchDocument | null {
  let record: PageRecord;
  try {
    record = JSON.parse(unpackRecord(packed).toString('utf8')) as PageRecord;
  } catch {
    return null;
  }
  if (record.outcome !== undefined && record.outcome !== 'ok') return null;
  const body = firstWords(searchTextOf(record, bodyText), MOST_BODY_WORDS);
  const titleWords = firstWords(title ?? '', MOST_TITLE_WORDS);
  return body.length + titleWords.length < LEAST_WORDS ? null : { title: titleWords, body };
}

function firstWords(text: string, most: number): string[] {
  const words: string[] = [];
  for (const { word } of wordsOf(text)) {
    words.push(word);
    if (words.length >= most) break;
  }
  return words;
}
