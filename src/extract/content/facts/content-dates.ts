import { hashName } from '../../html/names.ts';
import { collapse } from '../../html/page-text.ts';
import { parseDate, statedMoment } from '../../values/date/date.ts';
import { type Block, countWords } from '../features/blocks.ts';
import type { ContentEvidence } from '../features/evidence.ts';
import { blockAt, type FactSources, isText, SECONDARY_HINTS } from './content-head.ts';

/** Publication and last change of a page: ISO 8601 as precise as the page states, null when it states none. */
export interface ContentDates {
  readonly publishedAt: string | null;
  readonly modifiedAt: string | null;
}

const DATETIME = hashName('datetime');
const CONTENT = hashName('content');
const ITEM_PROPERTY = hashName('itemprop');
const PUBLISHED_META = ['article:published_time'];
/** Meta tags that count on texts only: on other pages they date the newest entry or the template. */
const TEXT_META = [
  ...PUBLISHED_META,
  'og:published_time',
  'article.published',
  'date',
  'dc.date',
  'dc.date.issued',
  'dc.date.created',
  'dcterms.date',
  'dcterms.issued',
  'dcterms.created',
  'pubdate',
  'publishdate',
  'publish_date',
  'publish-date',
  'publication_date',
  'citation_publication_date',
  'citation_date',
  'parsely-pub-date',
  'sailthru.date',
];
const MODIFIED_META = [
  'article:modified_time',
  'og:updated_time',
  'last-modified',
  'dc.date.modified',
  'dcterms.modified',
];
const FULL_URL_DATE = /[/-](20\d\d|19\d\d)([/-])(0?[1-9]|1[0-2])\2(0?[1-9]|[12]\d|3[01])(?!\d)/;

/** Structured data comes first, then marked elements and text, then the URL. */
export function contentDates(sources: FactSources): ContentDates {
  const { evidence, type, works } = sources;
  const { meta, language } = evidence.signals;
  const read = (value: unknown): string | null =>
    typeof value === 'string' ? readDate(value, language) : null;
  let publishedAt =
    firstOf(works, ({ value }) => read(value.datePublished)) ??
    firstOf(works, ({ value }) => read(value.dateCreated)) ??
    firstOf(isText(type) ? TEXT_META : PUBLISHED_META, (name) => read(meta.get(name)));
  let modifiedAt =
    firstOf(works, ({ value }) => read(value.dateModified)) ??
    firstOf(MODIFIED_META, (name) => read(meta.get(name)));
  if (isText(type)) {
    const marked = markedDates(sources);
    publishedAt ??= marked.publishedAt ?? read(meta.get('datepublished'));
    modifiedAt ??= marked.modifiedAt ?? read(meta.get('datemodified'));
    const near = headDates(sources);
    modifiedAt ??= near.modified;
    // Structured data often has the date of the last import; a visible date that is earlier is the publication.
    if (publishedAt === null || (type === 'article' && isLongBefore(near.published, publishedAt)))
      publishedAt = near.published;
    // Every post of a forum has its own date.
    if (type !== 'forum' && (publishedAt === null || modifiedAt === null)) {
      const far = nothing();
      readLines(evidence, 0, evidence.blocks.length, false, far);
      publishedAt ??= far.published;
      modifiedAt ??= far.modified;
    }
    publishedAt ??= urlDate(evidence.url);
  }
  return { publishedAt, modifiedAt };
}

/** True when earlier by more than time zones can explain. */
function isLongBefore(day: string | null, other: string): boolean {
  return day !== null && Date.parse(other) - Date.parse(day) > 3 * 86_400_000;
}

/** The dates of elements with a date property, and of `time` elements near the title. */
function markedDates({ evidence, type, head, elements }: FactSources): ContentDates {
  const { tree, blocks, signals, shape } = evidence;
  const found = nothing();
  const shown = nothing();
  const top = head === null ? undefined : blocks[type === 'forum' ? head.title : head.from];
  const start = top?.container ?? tree.count;
  const end = head === null || type === 'forum' ? tree.count : (blocks[head.to - 1] as Block).last;
  for (const node of elements.dates) {
    const property = tree.attribute(node, ITEM_PROPERTY)?.toLowerCase() ?? '';
    const isHead = node >= start && node <= end;
    const isProperty = property.startsWith('date');
    // Outside of the head, one of several similar elements belongs to a list entry.
    if (!isHead && (!isProperty || shape.outerUnit[node] !== 0)) continue;
    const kind = isProperty ? kindOf(property) : timeLabel(evidence, node);
    const into = isProperty ? found : shown;
    // Any post of a thread may have been edited.
    if (kind === 'modified' && type === 'forum' && !isProperty) continue;
    if (kind === 'other' || into[kind] !== null) continue;
    const stated = tree.attribute(node, DATETIME) ?? tree.attribute(node, CONTENT);
    into[kind] =
      (stated === null ? null : readDate(stated, signals.language)) ??
      readDate(tree.textOf(node, DATE_CHARS), signals.language);
  }
  return { publishedAt: found.published ?? shown.published, modifiedAt: found.modified ?? shown.modified };
}

const kindOf = (property: string): Kind =>
  property === 'datemodified' || property === 'dateupdated' ? 'modified' : 'published';

/** The dates in lines around the title; those below it come first. */
function headDates({ evidence, head }: FactSources): Found {
  const found = nothing();
  if (head === null) return found;
  readLines(evidence, head.title + 1, head.to, true, found);
  readLines(evidence, head.from, head.title, true, found);
  return found;
}

function urlDate(url: string): string | null {
  const match = FULL_URL_DATE.exec(URL.parse(url)?.pathname ?? '');
  if (match === null) return null;
  const [, year, , month = '', day = ''] = match;
  return readDate(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`, null);
}

function firstOf<T>(list: readonly T[], read: (entry: T) => string | null): string | null {
  for (const entry of list) {
    const found = read(entry);
    if (found !== null) return found;
  }
  return null;
}

/** The two dates of a page. */
type Kind = 'published' | 'modified';
/** The meaning of a date by the words beside it. */
type Label = Kind | 'other';
type Found = Record<Kind, string | null>;

const nothing = (): Found => ({ published: null, modified: null });

const CLASS = hashName('class');
const YEAR = /(?<!\d)(?:19|20)\d\d(?!\d)/;
const MODIFIED_WORDS =
  /\b(?:updated?|modified|revised|edited|changed|aktualisiert|geändert|bearbeitet|mise? à jour|modifié|actualizad[oa]|atualizad[oa]|modificad[oa]|aggiornat[oa]|bijgewerkt|gewijzigd)\b|обновлен|изменен|更新|수정/i;
const PUBLISHED_WORDS =
  /\b(?:published|posted|publication date|released|issued|started by|asked|submitted|veröffentlicht|erschienen|publiée?|publicad[oa]|pubblicat[oa]|gepubliceerd|opublikowan[oa])\b|опубликован|公開|发布|發布|게시/i;
/** Words for other dates: of a member, an event, a citation. */
const OTHER_WORDS =
  /\b(?:joined|member since|registered|born|expires?|expir(?:ed|ation)|deadline|copyright|reviewed|last (?:post|visit|reply|activity|seen|active)|until|through|starts?|ends?|register|accessed|retrieved|version|effective|since)\b|©/i;
/** `Founded: Dec 11, 2021`. */
const OTHER_LABEL = /^(?!date\b|on\b)\p{L}[\p{L} ]{1,30}:/iu;
const PARTS =
  /\s*[|·•∙●⋅»]\s*|\s[-–—]\s|(?=\b(?:last |first |originally )?(?:updated|modified|edited|published|posted)\b)/i;
const DATE_CHARS = 160;
/** Longer texts mention dates of other things; lines around the title may be longer. */
const LINE_WORDS = 16;
const HEAD_LINE_WORDS = 25;
/** A date without a label counts only in a line with few other words. */
const BARE_WORDS = 9;
const LABEL_WORDS = 4;
const LABEL_CHARS = 40;
const MOST_TRIES = 16;

/** A day with its year, and the moment where the text names a zone; null for ambiguous or incomplete dates. */
function readDate(value: string, language: string | null): string | null {
  const text = collapse(value, DATE_CHARS);
  if (!YEAR.test(text)) return null;
  // Relative dates are refused below, so any reference time will do.
  const parsed = parseDate(text, { fetchedAt: 0, locale: language ?? undefined });
  if (parsed === null || parsed.precision === 'year' || parsed.precision === 'month') return null;
  const day = parsed.iso.slice(0, 10);
  if (!text.includes(day.slice(0, 4)) || parsed.readings.some((other) => !other.startsWith(day))) return null;
  return (parsed.isAmbiguous ? null : statedMoment(parsed)) ?? day;
}

/** The meaning of a `<time>` element by its class names and the text before it. */
function timeLabel({ tree, blocks }: ContentEvidence, node: number): Label {
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

/** Adds missing dates from short texts among these blocks: in the head all, elsewhere only labelled ones. */
function readLines(evidence: ContentEvidence, from: number, to: number, isHead: boolean, found: Found): void {
  const { blocks, shape, signals } = evidence;
  let label: Label | null = null;
  let left = MOST_TRIES;
  for (let index = from; index < to && left > 0; index++) {
    const { text, words, digits, container } = blocks[index] as Block;
    const before = label;
    label = isLabel(blocks[index] as Block) ? labelIn(text) : null;
    if (digits < 4 || text.length > DATE_CHARS || words > (isHead ? HEAD_LINE_WORDS : LINE_WORDS)) continue;
    if (!isHead && ((shape.hintsAround[container] as number) & SECONDARY_HINTS) !== 0) continue;
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

/** True for a line that is only a label: `Last updated:`. */
const isLabel = ({ words, digits, text }: Block): boolean =>
  words > 0 && words <= LABEL_WORDS && digits === 0 && text.length <= LABEL_CHARS;
