import type { CompiledDiffRules } from './diff-rules.ts';
import type { FieldChange } from './json-diff.ts';
import { diffPictures, type PictureDiff, type PictureSummary } from './picture-diff.ts';
import { diffText, type TextDiff, type TextDiffOptions } from './text-diff.ts';
import {
  changedFields,
  type PageView,
  type WatchedPage,
  type WatchedText,
  watchPage,
} from './watched-page.ts';

export interface TextChange {
  /** `text`, `markdown`, or the selector. */
  readonly name: string;
  readonly diff: TextDiff;
}

/** What changed between two versions of a page, by the rules. */
export interface PageComparison {
  /** True exactly when one of the lists has an entry or the picture changed: the decision is the diff. */
  readonly isChanged: boolean;
  readonly texts: readonly TextChange[];
  readonly fields: readonly FieldChange[];
  readonly picture: PictureDiff | null;
}

export type ComparisonOptions = Pick<TextDiffOptions, 'by' | 'contextChars' | 'shownChars'>;

export const NO_CHANGE: PageComparison = { isChanged: false, texts: [], fields: [], picture: null };

/** The names of what changed, as the column `fields_changed` has them. */
export function changedNames({ texts, fields, picture }: PageComparison): string[] {
  return [
    ...fields.map(({ field }) => field),
    ...texts.map(({ name }) => name),
    ...(picture === null ? [] : ['screenshot']),
  ];
}

/** The figures of a diff of pictures, without the picture of it. */
export function withoutBytes(diff: PictureDiff): PictureSummary {
  const { picture: _bytes, ...summary } = diff;
  return summary;
}

/** Throws EXTRACTION_FAILED when selectors or patterns exceed the budget of a page. */
export function comparePages(
  a: PageView,
  b: PageView,
  rules: CompiledDiffRules,
  now: () => number,
  options: ComparisonOptions = { by: 'word' },
): PageComparison {
  return compareWatched(watchPage(a, rules, now), watchPage(b, rules, now), rules, options);
}

/** The one place that decides whether a page has changed. */
export function compareWatched(
  a: WatchedPage,
  b: WatchedPage,
  { threshold }: Pick<CompiledDiffRules, 'threshold'>,
  options: ComparisonOptions = { by: 'word' },
): PageComparison {
  const reaches = (share: number, amount: number): boolean =>
    share >= threshold.share && amount >= threshold.amount;
  const isSameText = a.textHash !== null && a.textHash === b.textHash;
  const texts = textPairs(a.texts, b.texts).flatMap(({ name, before, after }): TextChange[] => {
    if (isSameText && name === 'text') return [];
    const diff = diffText(before, after, options);
    const isCounted = diff.segments.length > 0 && reaches(diff.share, diff.addedChars + diff.removedChars);
    return isCounted ? [{ name, diff }] : [];
  });
  const fields = changedFields(a.fields, b.fields, { threshold });
  const picture = pictureChange(a.screenshot, b.screenshot);
  const isPictureCounted =
    picture !== null &&
    (picture.share === null ||
      picture.changedPixels === null ||
      reaches(picture.share, picture.changedPixels));
  return {
    isChanged: texts.length > 0 || fields.length > 0 || isPictureCounted,
    texts,
    fields,
    picture: isPictureCounted ? picture : null,
  };
}

/** Null when both are the same, or one is missing: then there is nothing that could be compared. */
function pictureChange(a: Uint8Array | null, b: Uint8Array | null): PictureDiff | null {
  if (a === null || b === null || Buffer.compare(a, b) === 0) return null;
  const diff = diffPictures(a, b);
  return diff.changedPixels === 0 ? null : diff;
}

function textPairs(a: readonly WatchedText[], b: readonly WatchedText[]) {
  return a.map(({ name, text }, at) => ({ name, before: text, after: b[at]?.text ?? '' }));
}
