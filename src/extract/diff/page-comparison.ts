import type { FieldChange } from './field-diff.ts';
import type { PictureDiff, PictureSummary } from './picture-diff.ts';
import type { TextDiff, TextDiffOptions } from './text-diff.ts';

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
