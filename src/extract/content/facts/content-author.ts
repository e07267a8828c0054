import { hashName, TAG } from '../../html/names.ts';
import { collapse } from '../../html/page-text.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import { type Block, countWords, headingLevel, squeeze } from '../features/blocks.ts';
import type { ContentEvidence, TypedObject } from '../features/evidence.ts';
import { blockAt, type FactSources, isText, SECONDARY_HINTS } from './content-head.ts';

interface StatedAuthor {
  readonly name: string;
  readonly isPerson: boolean;
}

const NAME = hashName('name');
const PROPERTY = hashName('property');
const CONTENT = hashName('content');
const CITED = 'citation_author';
/** Meta tags with names; handles (`twitter:creator`) are not names. */
const AUTHOR_META = [CITED, 'citation_authors', 'author', 'article:author', 'dc.creator', 'dcterms.creator'];
const TEXT_META = [...AUTHOR_META, 'byl', 'parsely-author', 'sailthru.author'];
const MOST_AUTHORS = 10;

/**
 * The author of the content; several names are joined by commas. Null when the page names none: authors of reviews and of
 * list entries do not count, nor does the site as its own author.
 */
export function contentAuthor(sources: FactSources): string | null {
  const { type, site } = sources;
  const stated = [...workAuthors(sources), ...metaAuthors(sources)];
  const firstOf = (isWanted: (author: StatedAuthor) => boolean): string | null => {
    for (const authors of stated) {
      const names = authors.filter(isWanted).map(({ name }) => name);
      const joined = joinNames(names, site);
      if (joined !== null) return joined;
    }
    return null;
  };
  const named = firstOf(({ name }) => !isSiteName(name, site));
  if (named !== null || !isText(type)) return named;
  // A personal site is named after its author: that name counts when the text has no other.
  return visibleAuthor(sources) ?? firstOf(({ isPerson }) => isPerson);
}

/** The authors of each of the works. */
function workAuthors({ evidence, works, type }: FactSources): StatedAuthor[][] {
  return works.map(({ value }) => {
    const { author = value.creator } = value;
    const list: unknown[] = Array.isArray(author) ? author.slice(0, MOST_AUTHORS) : [author];
    return list
      .map((entry) => authorIn(entry, evidence.signals.objects))
      .filter((found) => found !== null)
      .filter(({ isPerson }) => isPerson || isText(type));
  });
}

/** An author as a text, or as an object, which may be a reference to another object. */
function authorIn(entry: unknown, objects: readonly TypedObject[]): StatedAuthor | null {
  if (typeof entry === 'string') return { name: entry, isPerson: false };
  if (entry === null || typeof entry !== 'object') return null;
  const own = entry as Readonly<Record<string, unknown>>;
  const id = own['@id'];
  const told =
    typeof id === 'string' && id !== ''
      ? objects.find(({ value }) => value['@id'] === id && typeof value.name === 'string')?.value
      : undefined;
  const name = typeof own.name === 'string' ? own.name : told?.name;
  if (typeof name !== 'string') return null;
  return { name, isPerson: String(own['@type'] ?? told?.['@type'] ?? 'Person').includes('Person') };
}

/** The authors that each kind of meta tag names. */
function metaAuthors({ evidence, type, site }: FactSources): StatedAuthor[][] {
  const { meta } = evidence.signals;
  // On pages other than texts a single word is a company name, and tools state the author of the newest entry.
  const keys = isText(type) ? TEXT_META : AUTHOR_META;
  const lists = keys.filter((key) => meta.has(key)).map((key) => metaValues(evidence.tree, key));
  for (const number of [1, 2])
    if (isText(type) && /^(?:written by|author)$/i.test(meta.get(`twitter:label${number}`) ?? ''))
      lists.push([meta.get(`twitter:data${number}`) ?? '']);
  return lists.map((names) =>
    names
      .filter((name) => isText(type) || countWords(name) > 1)
      .map((name) => ({
        name,
        // A host may be named after a person.
        isPerson: countWords(name) > 1 && !isSiteName(name, { ...site, url: '' }),
      })),
  );
}

/** All values of a meta tag: papers have one for each author. */
function metaValues(tree: PageTree, key: string): string[] {
  const values: string[] = [];
  for (let node = 1; node < tree.count && tree.tags[node] !== TAG.body; node++) {
    if (tree.tags[node] !== TAG.meta) continue;
    const name = tree.attribute(node, PROPERTY) ?? tree.attribute(node, NAME) ?? '';
    if (name.trim().toLowerCase() !== key) continue;
    const value = tree.attribute(node, CONTENT) ?? '';
    // Citation metadata writes the family name first: `Bell, Ann` is Ann Bell.
    values.push(key === CITED ? value.replace(/^([^,]+),([^,]+)$/, '$2 $1') : value);
    if (values.length >= MOST_AUTHORS) break;
  }
  return values;
}

const ITEM_PROPERTY = hashName('itemprop');
const LINE_WORDS = 16;
/** Words beside the name in an author element known by its class only: a role, a date. */
const OTHER_WORDS = 4;
/** The name is among the first nodes of an author element. */
const MOST_NODES = 60;
const TEXT_CHARS = 200;

const LABEL =
  /^(?:(?:written|posted|text|words|story|article|authored|created) by|by|authors?|contributors?|autor(?:in)?|auteure?|autore)\s*:?$/i;
const BY =
  /^(?:(?:written|posted|published|text|words|story|article|authored|created|submitted|started|asked|reported) )?by:? (.+)$|^(?:authors?|contributors?|writers?|autor(?:in)?|auteure?|autore|作者) ?[:：] ?(.+)$|^(?:von|par|por|door|av) (.+)$/i;
const BY_LATER =
  /(?:^(?:submitted|posted|started|asked|published|created)\b.{0,60}|\d{4},?|[|·•–-]) by:? (.+)$/i;
const SIGNED = /^(?:written|text|words|story|posted|article) by\b/i;
const NOT_BY =
  /\b(?:reviewed|edited|powered|sponsored|presented|photos?|images?|checked|trusted|approved|sort|filter|brought to you) by\b/i;

/** The author in the rendered page, the most certain source first. */
function visibleAuthor(sources: FactSources): string | null {
  const { head, elements } = sources;
  return (
    authorsAmong(elements.authors, sources, true) ??
    (head === null ? null : lineAuthor(sources, head.from, head.to)) ??
    authorsAmong(elements.bylines, sources, false) ??
    signedAuthor(sources)
  );
}

/** The names in author elements. `isMarked`: known by structured data, anywhere on the page; else by class or link target. */
function authorsAmong(
  nodes: readonly number[],
  { evidence, type, head, site }: FactSources,
  isMarked: boolean,
): string | null {
  const { tree, shape, blocks } = evidence;
  const isForum = type === 'forum';
  const names: string[] = [];
  let end = tree.count;
  for (const node of nodes) {
    if (node >= end) break;
    const isHead =
      head !== null &&
      node >= (blocks[head.from] as Block).container &&
      node <= (blocks[head.to - 1] as Block).last;
    // Outside of the head, one of several similar elements belongs to a list entry.
    if (!isHead && !isForum && shape.outerUnit[node] !== 0) continue;
    const name = cleanName(nameWithin(evidence, node), site, !isMarked);
    if (name === null || !isPersonName(name, isForum)) continue;
    if (!isMarked && !isForum) {
      const words = countWords(name);
      if (words < 2 || (shape.words[node] as number) - words > OTHER_WORDS) continue;
    }
    names.push(name);
    // A thread counts its first post; an article counts all authors named together.
    if (isForum) break;
    if (end === tree.count) end = tree.ends[outerOf(tree, outerOf(tree, node))] as number;
  }
  return joinNames(names, site);
}

const outerOf = (tree: PageTree, node: number): number => Math.max(0, tree.parents[node] as number);

/** The name in an author element: its `name` property, else its first link, else its first line. */
function nameWithin({ tree, blocks }: ContentEvidence, node: number): string {
  const own = tree.attribute(node, CONTENT);
  if (own !== null) return own;
  const all = tree.ends[node] as number;
  const end = Math.min(all, node + MOST_NODES);
  let link = '';
  for (let inner = node + 1; inner < end; inner++) {
    if (tree.isText(inner)) continue;
    if (tree.attribute(inner, ITEM_PROPERTY)?.toLowerCase() === 'name')
      return tree.attribute(inner, CONTENT) ?? tree.textOf(inner, TEXT_CHARS);
    if (tree.tags[inner] === TAG.a && link === '') link = tree.textOf(inner, TEXT_CHARS).trim();
  }
  if (link !== '') return link;
  const line = blocks[blockAt(blocks, node)];
  return line !== undefined && line.container >= node && line.last < all
    ? line.text
    : tree.textOf(node, TEXT_CHARS);
}

const isLine = ({ words, text }: Block): boolean =>
  words > 0 && words <= LINE_WORDS && text.length <= TEXT_CHARS;

/** The author in a byline, or in the line after a label such as "By". */
function lineAuthor({ evidence, type, site, head }: FactSources, from: number, to: number): string | null {
  const { blocks, tree } = evidence;
  for (let index = from; index < to; index++) {
    const { text } = blocks[index] as Block;
    if (!isLine(blocks[index] as Block) || index === head?.title || NOT_BY.test(text)) continue;
    const next = blocks[index + 1];
    const isNext = LABEL.test(text) && next !== undefined && headingLevel(tree, next) !== 1;
    const match = isNext ? null : (BY.exec(text) ?? BY_LATER.exec(text));
    const found = isNext ? next.text : (match?.[1] ?? match?.[2] ?? match?.[3]);
    if (found === undefined) continue;
    const name = cleanName(found, site, !isNext);
    if (name !== null && isPersonName(name, type === 'forum')) return name;
  }
  return null;
}

/** The author in signatures below the head of an article; null when they disagree. */
function signedAuthor(sources: FactSources): string | null {
  const { evidence, type, head } = sources;
  if (type !== 'article' || head === null) return null;
  const { blocks, shape } = evidence;
  let author: string | null = null;
  for (let index = head.to; index < blocks.length; index++) {
    const { text, container } = blocks[index] as Block;
    if (!isLine(blocks[index] as Block) || !SIGNED.test(text)) continue;
    if (((shape.hintsAround[container] as number) & SECONDARY_HINTS) !== 0) continue;
    const name = lineAuthor(sources, index, index + 1);
    if (name !== null && author !== null && name !== author) return null;
    author ??= name;
  }
  return author;
}

/** Name and host of a site. */
export interface Site {
  readonly name: string | null;
  readonly url: string;
}

const NAME_CHARS = 100;
const MOST_CHARS = 300;
const MOST_WORDS = 6;
const PREFIX =
  /^(?:(?:written|posted|published|text|words|story|article|authored|created|submitted|started)\s+)?by:?\s+|^(?:author|autor(?:in)?|auteure?|autore)\s*:\s*|^(?:von|par|por|door)\s+/i;
const QUOTES = /^["'“”‘’«»\s]+|["'“”‘’«»\s]+$/g;
/** Separators before a date, a role or a repeated name. */
const TAIL = /\s*[|·•»]\s*.*$|\s+[–—-]\s+.*$|\s*[(<].*$/s;
const DATED =
  /[\s,]+(?:(?:last )?(?:updated?|published|posted|modified|reviewed)\b|(?:on )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.? \d|\d{1,2}[./ -]|\d{4}\b|\d+ (?:min|hours?|days?|years?)\b)).*$/is;
const NO_NAME =
  /^(?:admin(?:istrator)?|guest|anonymous|unknown|authors?|editors?|webmaster|root|users?|none|null|undefined|by|staff|contributors?|moderator|member|default)$/i;
const ADDRESS = /^[@/]|https?:|www\.|\S@\S|\.(?:com|org|net)\b/i;

/** A name without labels and roles; null when no name is left. `isLine`: from a line of text, where a comma ends the name. */
function cleanName(text: string, site: Site, isLine = false): string | null {
  let name = collapse(text, MOST_CHARS).replace(QUOTES, '').replace(PREFIX, '').replace(TAIL, '');
  name = name.replace(DATED, '');
  if (isLine && !/\band\b|&/.test(name)) name = name.replace(/,.*$/, '');
  name = withoutSite(name, site)
    .replace(/[\s,:;]+$/, '')
    .replace(QUOTES, '');
  return name === '' || ADDRESS.test(name) || NO_NAME.test(name) ? null : collapse(name, NAME_CHARS);
}

/** `Ann Bell, The Daily Acme`: the newspaper is not an author. */
function withoutSite(name: string, site: Site): string {
  if (!name.includes(',')) return name;
  const parts = name.split(/\s*,\s*/);
  const others = parts.filter((part) => !isSiteName(part, site));
  return others.length === 0 ? name : others.join(', ');
}

const SMALL = new Set(
  'van von der den de da di del della dos du la le bin ibn al el and und et y e & the of'.split(' '),
);
const NOT_NAMES =
  /\b(?:view|about|follow|read|share|more|posts?|contact|min|comments?|published|updated|written|profile|subscribe|articles?|photo|image|click|login|sign|home|search|menu|reply|replies|joined|messages|likes?|thread|topic|here|this|our|your|you)\b/i;

/** True when a text can be the name of a person; nicknames in forums (`isNick`) can be anything. */
function isPersonName(name: string, isNick: boolean): boolean {
  if (name.length < 2 || name.length > NAME_CHARS) return false;
  if (isNick) return countWords(name) <= 4 && name.length <= 40;
  const words = name.split(/[\s,]+/).filter((word) => word !== '');
  if (words.length === 0 || words.length > (name.includes(',') ? MOST_WORDS * 2 : MOST_WORDS)) return false;
  if (/\d|[!?:;{}<>=]/.test(name) || NOT_NAMES.test(name)) return false;
  return words.every((word) => SMALL.has(word.toLowerCase()) || !/^\p{Ll}/u.test(word));
}

const CORPORATE = /\b(?:inc|llc|ltd|gmbh|corp|corporation|co|the|team|official)\b\.?/gi;

/** True for the name of the site, by its structured data or its host. */
function isSiteName(name: string, site: Site): boolean {
  const letters = squeeze(name.replace(CORPORATE, ''));
  if (letters === '') return true;
  if (letters === squeeze((site.name ?? '').replace(CORPORATE, ''))) return true;
  const labels = (URL.parse(site.url)?.hostname ?? '').split('.').map(squeeze);
  if (labels.includes(letters) || labels.includes(squeeze(name))) return true;
  const words = name
    .split(/\s+/)
    .map(squeeze)
    .filter((word) => word !== '');
  const initials = words.map((word) => word[0]).join('');
  return (
    words.length > 1 &&
    (words.every((word) => labels.includes(word)) || (words.length > 2 && labels.includes(initials)))
  );
}

/** Several names as one text, each once; null without any. */
function joinNames(names: readonly string[], site: Site): string | null {
  const cleaned = new Map<string, string>();
  for (const name of names) {
    const clean = cleanName(name, site);
    if (clean !== null && !cleaned.has(squeeze(clean))) cleaned.set(squeeze(clean), clean);
  }
  return cleaned.size === 0 ? null : collapse([...cleaned.values()].join(', '), NAME_CHARS * 2);
}
