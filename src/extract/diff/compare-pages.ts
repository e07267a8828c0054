import type { CompiledDiffRules } from './diff-rules.ts';
import type { ComparisonOptions, PageComparison, TextChange } from './page-comparison.ts';
import { diffPictures, type PictureDiff } from './picture-diff.ts';
import { diffText } from './text-diff.ts';
import { changedFields } from './watched-fields.ts';
import { type PageView, type WatchedPage, type WatchedText, watchPage } from './watched-page.ts';

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
