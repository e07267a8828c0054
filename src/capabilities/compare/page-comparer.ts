import { type ComparisonOptions, NO_CHANGE, type PageComparison } from '../../extract/diff/compare-pages.ts';
import { DEFAULT_FIELDS, type DiffRules } from '../../extract/diff/diff-rules.ts';
import {
  changedFields,
  type PageView,
  type WatchedPage,
  watchFields,
} from '../../extract/diff/watched-page.ts';
import type { DiffLane } from './diff-lane.ts';
import { loadView, type PageVersion, type StoredBytes } from './page-version.ts';

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
