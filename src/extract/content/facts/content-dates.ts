import { hashName } from '../../name-table.ts';
import type { Block } from '../blocks.ts';
import { isText } from './content-work.ts';
import type { FactSources } from './fact-sources.ts';
import {
  DATE_CHARS,
  type Found,
  type Kind,
  nothing,
  readDate,
  readLines,
  timeLabel,
} from './written-dates.ts';

/** When a page was published and last changed: in ISO 8601, as exact as the page says, null where it does not. */
export interface ContentDates {
  readonly publishedAt: string | null;
  readonly modifiedAt: string | null;
}

const DATETIME = hashName('datetime');
const CONTENT = hashName('content');
const ITEM_PROPERTY = hashName('itemprop');
const PUBLISHED_META = ['article:published_time'];
/** On other pages these tell when the newest entry is of, or the page was made. */
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

/** What data of the page states comes first, then what its marks and its text say, at last what its address does. */
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
    // Data often gives the day of the last import; no article shows an earlier one than that of its publication.
    if (publishedAt === null || (type === 'article' && isLongBefore(near.published, publishedAt)))
      publishedAt = near.published;
    // The posts of a forum all say when they were posted.
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

/** By more than what time zones and nights make of a day. */
function isLongBefore(day: string | null, other: string): boolean {
  return day !== null && Date.parse(other) - Date.parse(day) > 3 * 86_400_000;
}

/** The dates of elements that say by a property, or by being a time near the title, what they are. */
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
    // Outside of the head, one of several alike is of an entry of some list.
    if (!isHead && (!isProperty || shape.outerUnit[node] !== 0)) continue;
    const kind = isProperty ? kindOf(property) : timeLabel(evidence, node);
    const into = isProperty ? found : shown;
    // Of the posts of a thread any may have been changed.
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
