import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import {
  type ComparisonOptions,
  changedFields,
  NO_CHANGE,
  type PageComparison,
  type PageView,
  type TextChange,
  type WatchedPage,
  watchFields,
} from '../../extract/diff/compare-pages.ts';
import { DEFAULT_FIELDS, DEFAULT_RULES, type DiffRules } from '../../extract/diff/diff-rules.ts';
import type { HtmlDiff } from '../../extract/diff/html-diff.ts';
import type { FieldChange, JsonDiff } from '../../extract/diff/json-diff.ts';
import type { PictureDiff } from '../../extract/diff/picture-diff.ts';
import { NO_TEXT_DIFF, type TextDiff } from '../../extract/diff/text-diff.ts';
import type { DiffLane } from './diff-lane.ts';
import { isHtmlType, loadView, type PageVersion, type StoredBytes } from './page-version.ts';

/** Compares stored versions of pages, with as few bytes as it takes. */
export interface PageComparer {
  /**
   * Null when a body or a picture is not kept any more, and what is stored beside it does not decide; also when nothing but
   * pictures is watched and one of the versions has none.
   */
  compare(
    a: PageVersion,
    b: PageVersion,
    rules: DiffRules,
    options?: ComparisonOptions,
  ): Promise<PageComparison | null>;
  /** The first of the others that is the same as the page, by the rules; null when none is. Bodies that are gone are passed over. */
  findSame<T extends PageVersion>(
    page: PageVersion,
    others: readonly T[],
    rules: DiffRules,
  ): Promise<T | null>;
  /** What the rules leave of the page; null when its body is not kept any more. */
  watched(page: PageVersion, rules: DiffRules): Promise<WatchedPage | null>;
}

export function createPageComparer(blobs: StoredBytes, lane: DiffLane): PageComparer {
  return {
    async watched(page, rules) {
      const parts = { body: needsBody(rules), screenshot: rules.watch.screenshot };
      const view = await loadView(page, blobs, parts);
      return view === null ? null : lane.run('watch', { page: view, rules });
    },

    async compare(a, b, rules, options = { by: 'word' }) {
      const { watch } = rules;
      const hasPictures = a.screenshot !== null && b.screenshot !== null;
      if (isOfPictures(watch) && !hasPictures) return null;
      const decided = decidedByHashes(a, b, rules);
      if (decided === 'same') return NO_CHANGE;
      if (decided === 'fields') {
        const views = { a: withoutBody(a), b: withoutBody(b) };
        const ofFields = { ...rules, watch: { ...watch, text: false, screenshot: false } };
        if (!isCheap(rules)) return lane.run('pages', { ...views, rules: ofFields, options });
        const watched = (version: PageVersion) => watchFields(version.fields, rules, (text) => text);
        const fields = changedFields(watched(a), watched(b), rules);
        return { ...NO_CHANGE, isChanged: fields.length > 0, fields };
      }
      const parts = { body: needsBody(rules), screenshot: watch.screenshot };
      const [before, after] = await Promise.all([loadView(a, blobs, parts), loadView(b, blobs, parts)]);
      if (before === null || after === null) return null;
      return lane.run('pages', { a: before, b: after, rules, options });
    },

    async findSame(page, others, rules) {
      const parts = { body: needsBody(rules), screenshot: rules.watch.screenshot };
      const view = await loadView(page, blobs, parts);
      if (view === null) return null;
      for (const other of others) {
        const known = await loadView(other, blobs, parts);
        if (known === null) continue;
        if ((await lane.run('sameAs', { page: view, others: [known], rules })) !== null) return other;
      }
      return null;
    },
  };
}

const needsBody = ({ watch }: DiffRules): boolean =>
  watch.text || watch.markdown || watch.selectors.length > 0;

const isOfPictures = (watch: DiffRules['watch']): boolean =>
  watch.screenshot && !watch.text && !watch.markdown && watch.selectors.length + watch.fields.length === 0;

/** Small values, and no patterns to search them for: such fields are compared without the thread. */
const isCheap = ({ watch, ignore }: DiffRules): boolean =>
  watch.fields !== 'all' &&
  watch.fields.every((name) => DEFAULT_FIELDS.includes(name)) &&
  ignore.patterns.length === 0;

const withoutBody = ({ url, fields }: PageVersion): PageView => ({
  url,
  fields,
  body: null,
  isHtml: false,
  textHash: null,
  screenshot: null,
});

/**
 * Most pages need not be read: those whose bytes are the same, and those whose text is the same when nothing but text and
 * fields is watched. Null when the bodies have to decide.
 */
function decidedByHashes(a: PageVersion, b: PageVersion, { watch }: DiffRules): 'same' | 'fields' | null {
  const isSamePicture = !watch.screenshot || a.screenshot === b.screenshot;
  const isSameBody = a.contentHash !== null && a.contentHash === b.contentHash;
  if (isSameBody && isSamePicture) return 'same';
  const isSameText = a.textHash !== null && a.textHash === b.textHash;
  const isDecided = isSamePicture && !watch.markdown && watch.selectors.length === 0;
  return isDecided && (!watch.text || isSameText) ? 'fields' : null;
}

/**
 * rules    everything that the rules watch, texts by words
 * text     the visible text by words, as `word`
 * line     the visible text by lines
 * html     elements and text, also as HTML with `ins` and `del`
 * json     a JSON Patch between two JSON bodies, else between what was extracted
 * fields   title, price, availability and extracted fields
 * visual   the pixels of the screenshots
 */
export const DIFF_MODES = ['rules', 'text', 'word', 'line', 'html', 'json', 'fields', 'visual'] as const;
export type DiffMode = (typeof DIFF_MODES)[number];

export type VersionDiff =
  | { readonly mode: 'rules'; readonly isChanged: boolean; readonly diff: PageComparison }
  | { readonly mode: 'text' | 'word' | 'line'; readonly isChanged: boolean; readonly diff: TextDiff }
  | { readonly mode: 'html'; readonly isChanged: boolean; readonly diff: HtmlDiff }
  | { readonly mode: 'json'; readonly isChanged: boolean; readonly diff: JsonDiff }
  | { readonly mode: 'fields'; readonly isChanged: boolean; readonly diff: readonly FieldChange[] }
  | { readonly mode: 'visual'; readonly isChanged: boolean; readonly diff: PictureDiff | null };

export interface VersionDiffDeps {
  readonly blobs: StoredBytes;
  readonly lane: DiffLane;
  readonly comparer: PageComparer;
}

const bodyGone = () =>
  new ScrapifieError('EXPIRED', 'The body or the picture of one of the two versions is not kept any more.', {
    details: { part: 'bodies' },
  });

/** Two versions of a page in one way. Throws EXPIRED without a body, UNSUPPORTED_OPTION for a mode that the versions have nothing for. */
export async function diffVersions(
  { blobs, lane, comparer }: VersionDiffDeps,
  a: PageVersion,
  b: PageVersion,
  mode: DiffMode,
  rules: DiffRules,
): Promise<VersionDiff> {
  async function compared(watch: Partial<DiffRules['watch']>, by: 'word' | 'line'): Promise<PageComparison> {
    const nothing = { ...DEFAULT_RULES.watch, text: false, fields: [] };
    const found = await comparer.compare(a, b, { ...rules, watch: { ...nothing, ...watch } }, { by });
    if (found === null) throw bodyGone();
    return found;
  }

  async function bodies(): Promise<{ readonly a: string; readonly b: string }> {
    const parts = { body: true, screenshot: false };
    const [one, other] = await Promise.all([loadView(a, blobs, parts), loadView(b, blobs, parts)]);
    if (one === null || other === null) throw bodyGone();
    if (one.body === null || other.body === null) throw unsupported('One of the two bodies is not text.');
    return { a: one.body, b: other.body };
  }

  switch (mode) {
    case 'rules': {
      const diff = await compared(rules.watch, 'word');
      return { mode, isChanged: diff.isChanged, diff };
    }
    case 'text':
    case 'word':
    case 'line': {
      const { texts } = await compared({ text: true }, mode === 'line' ? 'line' : 'word');
      return { mode, isChanged: texts.length > 0, diff: ofText(texts) };
    }
    case 'fields': {
      const { fields: watched } = rules.watch;
      const { fields } = await compared(
        { fields: watched === 'all' || watched.length > 0 ? watched : 'all' },
        'word',
      );
      return { mode, isChanged: fields.length > 0, diff: fields };
    }
    case 'html': {
      if (!isHtmlType(a.contentType) || !isHtmlType(b.contentType))
        throw unsupported('One of the two bodies is not HTML.');
      const read = await bodies();
      const documents = { a: { url: a.url, html: read.a }, b: { url: b.url, html: read.b } };
      const diff = await lane.run('html', { ...documents, rules });
      return { mode, isChanged: diff.changes.length > 0, diff };
    }
    case 'json': {
      const diff = await lane.run('json', { ...(await jsonOf()), ignoredFields: rules.ignore.fields });
      return { mode, isChanged: diff.patch.length > 0, diff };
    }
    case 'visual': {
      if (a.screenshot === null || b.screenshot === null)
        throw unsupported('One of the two versions has no screenshot in PNG.');
      const { picture: diff } = await compared({ screenshot: true }, 'word');
      return { mode, isChanged: diff !== null, diff };
    }
  }

  async function jsonOf(): Promise<{ readonly a: string; readonly b: string }> {
    const isJson = ({ contentType }: PageVersion): boolean => /\bjson\b/i.test(contentType ?? '');
    if (isJson(a) && isJson(b)) return bodies();
    return { a: JSON.stringify(a.fields), b: JSON.stringify(b.fields) };
  }
}

const unsupported = (message: string) =>
  new ScrapifieError('UNSUPPORTED_OPTION', message, { details: [{ field: 'mode', message }] });

const ofText = (texts: readonly TextChange[]): TextDiff => texts[0]?.diff ?? NO_TEXT_DIFF;
