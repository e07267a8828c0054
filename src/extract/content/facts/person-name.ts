import { collapse } from '../../html/page-text.ts';
import { countWords, squeeze } from '../features/blocks.ts';

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
export function cleanName(text: string, site: Site, isLine = false): string | null {
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
export function isPersonName(name: string, isNick: boolean): boolean {
  if (name.length < 2 || name.length > NAME_CHARS) return false;
  if (isNick) return countWords(name) <= 4 && name.length <= 40;
  const words = name.split(/[\s,]+/).filter((word) => word !== '');
  if (words.length === 0 || words.length > (name.includes(',') ? MOST_WORDS * 2 : MOST_WORDS)) return false;
  if (/\d|[!?:;{}<>=]/.test(name) || NOT_NAMES.test(name)) return false;
  return words.every((word) => SMALL.has(word.toLowerCase()) || !/^\p{Ll}/u.test(word));
}

const CORPORATE = /\b(?:inc|llc|ltd|gmbh|corp|corporation|co|the|team|official)\b\.?/gi;

/** True for the name of the site, by its structured data or its host. */
export function isSiteName(name: string, site: Site): boolean {
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
export function joinNames(names: readonly string[], site: Site): string | null {
  const cleaned = new Map<string, string>();
  for (const name of names) {
    const clean = cleanName(name, site);
    if (clean !== null && !cleaned.has(squeeze(clean))) cleaned.set(squeeze(clean), clean);
  }
  return cleaned.size === 0 ? null : collapse([...cleaned.values()].join(', '), NAME_CHARS * 2);
}
