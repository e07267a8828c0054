import { hashName } from '../../name-table.ts';
import { parseDate } from '../../normalize/date/date.ts';
import { collapse } from '../../white-space.ts';
import type { Evidence } from '../block-features.ts';
import { type Block, countWords } from '../blocks.ts';
import { AWAY_HINTS, blockAt } from './content-head.ts';

/** The two dates of a page. */
export type Kind = 'published' | 'modified';
/** What the words at a date say it is the date of. */
export type Label = Kind | 'other';
export type Found = Record<Kind, string | null>;

export const nothing = (): Found => ({ published: null, modified: null });

const CLASS = hashName('class');
const YEAR = /(?<!\d)(?:19|20)\d\d(?!\d)/;
const MODIFIED_WORDS =
  /\b(?:updated?|modified|revised|edited|changed|aktualisiert|geändert|bearbeitet|mise? à jour|modifié|actualizad[oa]|atualizad[oa]|modificad[oa]|aggiornat[oa]|bijgewerkt|gewijzigd)\b|обновлен|изменен|更新|수정/i;
const PUBLISHED_WORDS =
  /\b(?:published|posted|publication date|released|issued|started by|asked|submitted|veröffentlicht|erschienen|publiée?|publicad[oa]|pubblicat[oa]|gepubliceerd|opublikowan[oa])\b|опубликован|公開|发布|發布|게시/i;
/** Dates of something else: of a member, of an event, of what the page cites. */
const OTHER_WORDS =
  /\b(?:joined|member since|registered|born|expires?|expir(?:ed|ation)|deadline|copyright|reviewed|last (?:post|visit|reply|activity|seen|active)|until|through|starts?|ends?|register|accessed|retrieved|version|effective|since)\b|©/i;
/** `Founded: Dec 11, 2021`. */
const OTHER_LABEL = /^(?!date\b|on\b)\p{L}[\p{L} ]{1,30}:/iu;
const PARTS =
  /\s*[|·•∙●⋅»]\s*|\s[-–—]\s|(?=\b(?:last |first |originally )?(?:updated|modified|edited|published|posted)\b)/i;
export const DATE_CHARS = 160;
/** Longer texts tell of dates; around the title they hold more than one thing. */
const LINE_WORDS = 16;
const HEAD_LINE_WORDS = 25;
/** Without a word that says what it is, a date stands nearly alone. */
const BARE_WORDS = 9;
const LABEL_WORDS = 4;
const LABEL_CHARS = 40;
const MOST_TRIES = 16;

/** A day with its year, in UTC where the text names a zone; null for all that leaves something open. */
export function readDate(value: string, language: string | null): string | null {
  const text = collapse(value, DATE_CHARS);
  if (!YEAR.test(text)) return null;
  // Only what hangs on no clock counts, so any will do.
  const parsed = parseDate(text, { fetchedAt: 0, locale: language ?? undefined });
  if (parsed === null || parsed.precision === 'year' || parsed.precision === 'month') return null;
  const day = parsed.iso.slice(0, 10);
  if (!text.includes(day.slice(0, 4)) || parsed.readings.some((other) => !other.startsWith(day))) return null;
  const time = parsed.hasZone && !parsed.isAmbiguous ? Date.parse(parsed.iso) : Number.NaN;
  return Number.isNaN(time) ? day : new Date(time).toISOString();
}

/** What a `<time>` is the time of, by its names and by what stands before it. */
export function timeLabel({ tree, blocks }: Evidence, node: number): Label {
  const names = tree.attribute(node, CLASS) ?? '';
  // Templates give a page that was never changed both names at once.
  if (/updated|modified/i.test(names) && !/publish/i.test(names)) return 'modified';
  const index = blockAt(blocks, node);
  const block = blocks[index];
  if (block === undefined) return 'published';
  const own = tree.textOf(node, DATE_CHARS).trim();
  const inner = labelIn(own);
  if (inner !== null) return inner;
  const text = block.text.slice(0, DATE_CHARS * 2);
  const at = own === '' ? -1 : text.indexOf(own);
  if (at > 0) return labelIn(text.slice(0, at).split(PARTS).at(-1) ?? '') ?? 'published';
  const before = blocks[index - 1];
  return (before !== undefined && isLabel(before) ? labelIn(before.text) : null) ?? 'published';
}

function labelIn(text: string): Label | null {
  if (MODIFIED_WORDS.test(text)) return 'modified';
  if (PUBLISHED_WORDS.test(text)) return 'published';
  return OTHER_WORDS.test(text) ? 'other' : null;
}

/** Adds the dates in short texts among these blocks that are not found yet: in the head all, elsewhere those that say what they are. */
export function readLines(evidence: Evidence, from: number, to: number, isHead: boolean, found: Found): void {
  const { blocks, shape, signals } = evidence;
  let label: Label | null = null;
  let left = MOST_TRIES;
  for (let index = from; index < to && left > 0; index++) {
    const { text, words, digits, container } = blocks[index] as Block;
    const before = label;
    label = isLabel(blocks[index] as Block) ? labelIn(text) : null;
    if (digits < 4 || text.length > DATE_CHARS || words > (isHead ? HEAD_LINE_WORDS : LINE_WORDS)) continue;
    if (!isHead && ((shape.hintsAround[container] as number) & AWAY_HINTS) !== 0) continue;
    for (const part of text.split(PARTS)) {
      if (!YEAR.test(part)) continue;
      const isBare = isHead && countWords(part) <= BARE_WORDS && !OTHER_LABEL.test(part);
      const kind = labelIn(part) ?? before ?? (isBare ? 'published' : 'other');
      if (kind === 'other' || found[kind] !== null) continue;
      found[kind] = readDate(part, signals.language);
      left--;
    }
  }
}

/** A line that only announces the next: `Last updated:`. */
const isLabel = ({ words, digits, text }: Block): boolean =>
  words > 0 && words <= LABEL_WORDS && digits === 0 && text.length <= LABEL_CHARS;
