import { hashName } from '../name-table.ts';
import { TAG } from '../tag.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { collapse } from '../white-space.ts';
import { headingLevel } from './block-facts.ts';
import type { Evidence } from './block-features.ts';
import { countWords } from './blocks.ts';
import { HINT_BITS } from './hint-words.ts';
import type { TypedObject } from './page-signals.ts';

/** What belongs to content beside its text; null where the page does not say. */
export interface ContentFacts {
  readonly title: string | null;
  readonly author: string | null;
  /** ISO 8601, as exact as the page says. */
  readonly publishedAt: string | null;
  readonly modifiedAt: string | null;
  readonly siteName: string | null;
  readonly language: string | null;
  readonly description: string | null;
}

const ITEM_PROPERTY = hashName('itemprop');
const REL = hashName('rel');
const DATETIME = hashName('datetime');
const CONTENT = hashName('content');
const TITLE_CHARS = 300;
const NAME_CHARS = 100;
const SEPARATOR = /\s+[|–—·»:-]\s+|\s*\|\s*/;
const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?)?/;
const BYLINE = /^(?:by|written by|posted by|author:?|von|par|por|di|door|av)\s+/i;

export function contentFacts(evidence: Evidence, contentLanguage: string | null): ContentFacts {
  const { signals, tree } = evidence;
  const { meta, objects } = signals;
  const work = objects.find(({ value }) => 'headline' in value || 'datePublished' in value);
  const times = timesOf(tree);
  return {
    title: titleOf(evidence, work),
    author: authorOf(evidence, work),
    publishedAt: firstDate(
      work?.value.datePublished,
      meta.get('article:published_time'),
      meta.get('datepublished'),
      meta.get('date'),
      meta.get('dc.date'),
      meta.get('pubdate'),
      times.published,
    ),
    modifiedAt: firstDate(
      work?.value.dateModified,
      meta.get('article:modified_time'),
      meta.get('og:updated_time'),
      meta.get('datemodified'),
      meta.get('last-modified'),
      times.modified,
    ),
    siteName: short(meta.get('og:site_name') ?? meta.get('application-name') ?? publisherOf(work, objects)),
    language: signals.language ?? meta.get('content-language') ?? contentLanguage,
    description:
      meta.get('description') ?? meta.get('og:description') ?? meta.get('twitter:description') ?? null,
  };
}

/** Words, with every sign of scripts that write without spaces counted as one. */
export function wordsIn(text: string): number {
  return countWords(text.replace(/[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]/g, ' a '));
}

function titleOf({ signals, blocks, tree }: Evidence, work: TypedObject | undefined): string | null {
  const whole = signals.title ?? '';
  const stated = [work?.value.headline, signals.meta.get('og:title'), signals.meta.get('twitter:title')];
  // A heading that the title of the page repeats is the title without the name of the site.
  const heading = blocks.find((block) => {
    const level = headingLevel(tree, block);
    return (
      level > 0 && level < 3 && block.words > 0 && whole.toLowerCase().includes(block.text.toLowerCase())
    );
  });
  if (heading !== undefined && heading.text.length >= Math.min(whole.length * 0.3, 15))
    return short(heading.text, TITLE_CHARS);
  for (const value of stated)
    if (typeof value === 'string' && value.trim() !== '') return short(value, TITLE_CHARS);
  if (whole === '')
    return short(blocks.find((block) => headingLevel(tree, block) === 1)?.text ?? null, TITLE_CHARS);
  return short(withoutSite(whole, signals.meta.get('og:site_name') ?? ''), TITLE_CHARS);
}

/** `Title | Site`: the longest part, unless the name of the site is known. */
function withoutSite(title: string, site: string): string {
  const parts = title.split(SEPARATOR).filter((part) => part.trim() !== '');
  if (parts.length < 2) return title;
  const others = parts.filter((part) => part.trim().toLowerCase() !== site.trim().toLowerCase());
  if (others.length < parts.length) return others.join(' – ');
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest));
}

function authorOf(evidence: Evidence, work: TypedObject | undefined): string | null {
  const { signals, tree, blocks, elements } = evidence;
  const stated =
    nameIn(work?.value.author) ??
    nameIn(signals.objects.find(({ value }) => 'author' in value)?.value.author);
  if (stated !== null) return stated;
  for (const key of ['author', 'article:author', 'dc.creator', 'byl', 'twitter:creator', 'parsely-author']) {
    const value = signals.meta.get(key);
    if (value !== undefined && !/^(?:https?:|@)/.test(value)) return short(value.replace(BYLINE, ''));
  }
  for (let node = 1; node < tree.count; node++) {
    if (tree.isText(node) || !tree.hasAttributes(node)) continue;
    const isAuthor =
      tree.attribute(node, ITEM_PROPERTY) === 'author' ||
      (tree.attribute(node, REL) ?? '').split(/\s+/).includes('author');
    if (!isAuthor) continue;
    const name = short(tree.textOf(node, NAME_CHARS * 4));
    if (name !== null && countWords(name) <= 6) return name.replace(BYLINE, '');
  }
  const byline = blocks.find((block) => {
    const hints =
      (elements.hints[block.container] as number) |
      (elements.hints[tree.parents[block.container] as number] ?? 0);
    return (
      block.words <= 8 &&
      (BYLINE.test(block.text) || false) &&
      (hints & (HINT_BITS.meta | HINT_BITS.user)) !== 0
    );
  });
  return byline === undefined ? null : short(byline.text.replace(BYLINE, ''));
}

/** The name in a `Person`, in a list of them, or in a plain string. */
function nameIn(author: unknown): string | null {
  const list: unknown[] = Array.isArray(author) ? author.slice(0, 10) : [author];
  const names = list.flatMap((entry) => {
    if (typeof entry === 'string') return /^https?:/.test(entry) ? [] : [entry];
    if (entry === null || typeof entry !== 'object') return [];
    const { name } = entry as { name?: unknown };
    return typeof name === 'string' ? [name] : [];
  });
  return names.length === 0 ? null : short(names.join(', '));
}

function publisherOf(work: TypedObject | undefined, objects: readonly TypedObject[]): string | null {
  const site = objects.find(({ types }) => types.includes('website'));
  return nameIn(work?.value.publisher) ?? (typeof site?.value.name === 'string' ? site.value.name : null);
}

function timesOf(tree: PageTree): { published: string | null; modified: string | null } {
  let published: string | null = null;
  let modified: string | null = null;
  for (let node = 1; node < tree.count; node++) {
    if (tree.isText(node) || !tree.hasAttributes(node)) continue;
    const property = tree.attribute(node, ITEM_PROPERTY)?.toLowerCase() ?? '';
    const isTime = tree.tags[node] === TAG.time;
    if (!isTime && !property.startsWith('date')) continue;
    const value = tree.attribute(node, DATETIME) ?? tree.attribute(node, CONTENT);
    if (value === null) continue;
    if (property === 'datemodified') modified ??= value;
    else published ??= value;
  }
  return { published, modified };
}

/** The first of these that is a date, in ISO form. */
function firstDate(...values: readonly unknown[]): string | null {
  for (const value of values) {
    if (typeof value !== 'string') continue;
    const found = isoDate(value.trim());
    if (found !== null) return found;
  }
  return null;
}

function isoDate(value: string): string | null {
  const match = ISO.exec(value);
  if (match === null) {
    if (!/\b(?:19|20)\d\d\b/.test(value) || !/[a-z]{3}/i.test(value) || value.length > 60) return null;
    const parsed = Date.parse(`${value} UTC`);
    const time = Number.isNaN(parsed) ? Date.parse(value) : parsed;
    return Number.isNaN(time) ? null : new Date(time).toISOString().slice(0, 10);
  }
  const [, year, month, day, hour, minute, second, zone] = match;
  const date = `${year}-${month}-${day}`;
  if (Number.isNaN(Date.parse(date))) return null;
  if (hour === undefined || zone === undefined) return date;
  const time = Date.parse(
    `${date}T${hour}:${minute}:${second ?? '00'}${zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone}`,
  );
  return Number.isNaN(time) ? date : new Date(time).toISOString();
}

function short(text: string | null | undefined, limit = NAME_CHARS): string | null {
  const value = text === null || text === undefined ? '' : collapse(text, limit);
  return value === '' ? null : value;
}
