import type { ChangeKind } from '../../core/model/monitor.ts';
import type { PageComparison } from '../../extract/diff/compare-pages.ts';
import type { FieldChange } from '../../extract/diff/field-diff.ts';
import type { TextSegment } from '../../extract/diff/text-diff.ts';
import { describeShare } from '../../lib/human-units.ts';

/** What changed, in a sentence for people, with a short excerpt. */

const MOST_FIELDS = 3;
const MOST_VALUE_CHARS = 80;
const MOST_CHARS = 300;

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const plain = (text: string) => text.replace(/\s+/g, ' ').trim();

export interface ToldChange {
  readonly kind: ChangeKind;
  readonly url: string;
  readonly fromUrl: string | null;
  readonly title: string | null;
  /** How the page differs from before; null for pages that are new or gone. */
  readonly comparison: PageComparison | null;
}

export function changeSentence({ kind, url, fromUrl, title, comparison }: ToldChange): string {
  const page = title === null || title === '' ? url : plain(title);
  if (kind === 'ADDED') return cut(`New page: ${page}`, MOST_CHARS);
  if (kind === 'REMOVED') return cut(`The page is gone: ${page}`, MOST_CHARS);
  if (kind === 'MOVED') return cut(`Moved from ${fromUrl ?? 'another address'}: ${page}`, MOST_CHARS);
  const what = comparison === null ? '' : excerptOf(comparison);
  return cut(`${kind === 'REVERTED' ? 'Changed back: ' : ''}${what || 'The page has changed'}`, MOST_CHARS);
}

function excerptOf({ fields, texts }: PageComparison): string {
  const told = fields.slice(0, MOST_FIELDS).map(fieldSentence);
  if (told.length > 0) return told.join('; ');
  const [first] = texts;
  return first === undefined ? '' : segmentSentence(first.diff.segments);
}

function fieldSentence({ field, kind, before, after, difference, share }: FieldChange): string {
  if (kind === 'added') return `${field}: ${shown(after)}`;
  if (kind === 'removed') return `${field}: no longer ${shown(before)}`;
  const change =
    difference === undefined || share === undefined || typeof before !== 'number' || before === 0
      ? ''
      : ` (${difference > 0 ? '+' : '−'}${describeShare(Math.abs(difference / before))})`;
  return `${field}: ${shown(before)} → ${shown(after)}${change}`;
}

const shown = (value: unknown): string =>
  cut(plain(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')), MOST_VALUE_CHARS);

/** Describes the first place that differs, with the text before and after. */
function segmentSentence(segments: readonly TextSegment[]): string {
  const at = segments.findIndex(({ kind }) => kind === 'removed' || kind === 'added');
  const few = segments.slice(at, at + 2);
  const textOf = (kind: TextSegment['kind']) => {
    const text = plain(few.find((segment) => segment.kind === kind)?.text ?? '');
    return text === '' ? null : `“${cut(text, MOST_VALUE_CHARS)}”`;
  };
  const [removed, added] = [textOf('removed'), textOf('added')];
  if (removed !== null && added !== null) return `${removed} → ${added}`;
  if (added !== null) return `New: ${added}`;
  return removed === null ? '' : `Removed: ${removed}`;
}

/** The comparison with no more than so many characters of what changed; `isTruncated` says where some are missing. */
export function boundedComparison(
  { texts, fields }: PageComparison,
  chars: number,
): { readonly texts: unknown[]; readonly fields: unknown[]; readonly isTruncated: boolean } {
  let left = chars;
  let isTruncated = false;
  const take = (text: string): string => {
    const taken = text.slice(0, Math.max(0, left));
    left -= text.length;
    isTruncated ||= taken.length < text.length;
    return taken;
  };
  const shownFields = fields.flatMap(({ patch: _patch, ...change }) => {
    const size = JSON.stringify(change).length;
    if (size > left) {
      isTruncated = true;
      return [];
    }
    left -= size;
    return [change];
  });
  const shownTexts = texts.flatMap(({ name, diff }) => {
    if (left <= 0) {
      isTruncated = true;
      return [];
    }
    const segments = diff.segments.flatMap((segment) => {
      const text = take(segment.text);
      return text === '' && segment.kind !== 'skipped' ? [] : [{ ...segment, text }];
    });
    isTruncated ||= diff.isTruncated;
    return [{ name, ...diff, segments }];
  });
  return { texts: shownTexts, fields: shownFields, isTruncated };
}
