import { collapse } from '../../html/page-text.ts';
import { countWords, headingLevel, squeeze } from '../features/blocks.ts';
import type { ContentEvidence, TypedObject } from '../features/evidence.ts';
import type { PageType } from '../model/model.ts';
import { contentAuthor } from './content-author.ts';
import { contentDates } from './content-dates.ts';
import { type FactSources, findHead, ownElements, worksOf } from './content-head.ts';

/** Facts about the content; null when the page does not state them. */
export interface ContentFacts {
  readonly title: string | null;
  readonly author: string | null;
  /** ISO 8601, as precise as the page states. */
  readonly publishedAt: string | null;
  readonly modifiedAt: string | null;
  readonly siteName: string | null;
  readonly language: string | null;
  readonly description: string | null;
}

const NAME_CHARS = 100;

const TITLE_CHARS = 300;
const HEADING_CHARS = 200;
const MOST_HEADINGS = 20;
const SEPARATOR = /\s+(?:[|–—·•»›:-]|::)\s+|\s*[|»]\s*/;
/** A heading that shares this many of its words with the title is the title. */
const LEAST_LIKENESS = 0.5;
/** The name of a site is short. */
const SITE_WORDS = 5;
/** Generic words for a site in the last part of a title. */
const SITE_KIND = /\b(?:docs?|documentation|wiki|forums?|blog|official site|reference|homepage|online)\b/i;
const SITE_KIND_WORDS = 4;
/** Shorter names occur inside too many other words. */
const LEAST_NAME = 4;
/** A word that makes up this much of the host is its name: `Django` of `djangoproject`. */
const HOST_SHARE = 0.4;

export function contentFacts(
  evidence: ContentEvidence,
  type: PageType,
  contentLanguage: string | null,
): ContentFacts {
  const { signals } = evidence;
  const { meta, objects } = signals;
  const work = objects.find(({ value }) => 'headline' in value || 'datePublished' in value);
  const siteName = short(
    meta.get('og:site_name') ?? meta.get('application-name') ?? publisherOf(work, objects),
  );
  const titles = [work?.value.headline, meta.get('og:title'), meta.get('twitter:title')].filter(
    (title) => typeof title === 'string',
  );
  const title = titleOf(evidence, siteName, titles);
  const works = worksOf(objects, type);
  const head = findHead(evidence, title);
  const elements = ownElements(evidence, type, head);
  const sources: FactSources = {
    evidence,
    type,
    site: { name: siteName, url: evidence.url },
    works,
    head,
    elements,
  };
  return {
    title,
    author: contentAuthor(sources),
    ...contentDates(sources),
    siteName,
    language: signals.language ?? meta.get('content-language') ?? contentLanguage,
    description:
      meta.get('description') ?? meta.get('og:description') ?? meta.get('twitter:description') ?? null,
  };
}

/** Counts words; in scripts without spaces every character counts as one. */
export function wordsIn(text: string): number {
  return countWords(text.replace(/[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]/g, ' a '));
}

function publisherOf(work: TypedObject | undefined, objects: readonly TypedObject[]): string | null {
  const site = objects.find(({ types }) => types.includes('website'));
  const publisher = work?.value.publisher;
  for (const named of [Array.isArray(publisher) ? publisher[0] : publisher, site?.value]) {
    const name = (named as { name?: unknown } | null | undefined)?.name ?? named;
    if (typeof name === 'string' && !/^https?:/.test(name)) return name;
  }
  return null;
}

function short(text: string | null): string | null {
  const value = text === null ? '' : collapse(text, NAME_CHARS);
  return value === '' ? null : value;
}

/**
 * The title of the page. `title` elements name the site as well, so a heading that agrees with one is taken, else the
 * title without the site. `stated` are the titles in structured data.
 */
export function titleOf(
  { signals, blocks, tree, url }: ContentEvidence,
  siteName: string | null,
  stated: readonly string[],
): string | null {
  const site: SiteLetters = { name: squeeze(siteName ?? ''), host: hostName(url) };
  const { whole, parts } = withoutSite(signals.title ?? '', site);
  // A heading equal to the part that names the site: the book of a chapter, the forum of a thread.
  const all = partsOf(signals.title ?? '').map(squeeze);
  const isLeftOut = (text: string): boolean => {
    const letters = squeeze(text);
    return !squeeze(whole).includes(letters) && all.some((part) => part.includes(letters));
  };
  const others = stated
    .map((text) => withoutSite(text, site).whole)
    .filter((text) => !isSite(text, site, false));
  const headings = blocks
    .filter(({ text, words }) => words > 0 && text.length <= HEADING_CHARS)
    .filter((block) => headingLevel(tree, block) === 1)
    .slice(0, MOST_HEADINGS)
    .map(({ text }) => withoutSite(text, site).whole)
    .filter((text) => !isSite(text, site, false) && !isLeftOut(text));
  const found = headingOf(headings, [signals.title ?? '', ...stated], parts, [whole, ...others]) ?? whole;
  const title = collapse(found === '' ? (others[0] ?? headings[0] ?? '') : found, TITLE_CHARS);
  return title === '' ? null : title;
}

/** The heading that the titles agree with. */
function headingOf(
  headings: readonly string[],
  titles: readonly string[],
  parts: readonly string[],
  wholes: readonly string[],
): string | null {
  const names = parts.map(squeeze);
  const within = titles.map(squeeze);
  const isPart = (heading: string): boolean => {
    const letters = squeeze(heading);
    // A single word stands in a title for many reasons.
    if (headings.length > 1 && !/\s/.test(heading)) return letters === names[0];
    return within.some((title) => title.includes(letters));
  };
  const holdsAll = (heading: string): boolean => {
    const letters = squeeze(heading);
    return wholes.map(squeeze).some((title) => title.length > LEAST_NAME && letters.includes(title));
  };
  const isAlike = (heading: string): boolean =>
    [...wholes, parts[0] ?? ''].some((title) => likeness(heading, title) >= LEAST_LIKENESS);
  return headings.find(isPart) ?? headings.find(holdsAll) ?? headings.find(isAlike) ?? null;
}

/** The name of a site, reduced to letters and digits. */
interface SiteLetters {
  readonly name: string;
  readonly host: string;
}

const partsOf = (title: string): string[] => title.split(SEPARATOR).filter((part) => part.trim() !== '');

/** `Title | Section | Site` without the parts that name the site: the remaining text, and its parts. */
function withoutSite(title: string, site: SiteLetters): { whole: string; parts: readonly string[] } {
  const line = collapse(title, TITLE_CHARS);
  const parts = partsOf(line);
  while (parts.length > 1 && isSite(parts.at(-1) as string, site, true)) parts.pop();
  let start = 0;
  while (parts.length > 1 && isSite(parts[0] as string, site, false)) {
    start = line.indexOf(parts[0] as string, start) + (parts[0] as string).length;
    parts.shift();
  }
  start = line.indexOf(parts[0] ?? '', start);
  let end = start;
  for (const part of parts) end = line.indexOf(part, end) + part.length;
  return { whole: line.slice(start, end).trim(), parts };
}

/** True for the name of the site; at the end of a title also for similar names: `Acme Docs`, `acme.com`. */
function isSite(text: string, { name, host }: SiteLetters, isLast: boolean): boolean {
  const letters = squeeze(text);
  if (letters === '' || letters === name || letters === host) return true;
  if (!isLast) return false;
  const words = wordsOf(text);
  if (words.length > SITE_WORDS) return false;
  if (SITE_KIND.test(text) && words.length <= SITE_KIND_WORDS) return true;
  const known = [name, host].filter((one) => one.length >= LEAST_NAME);
  return (
    (host !== '' && host.length < LEAST_NAME && words.includes(host)) ||
    known.some((one) => letters.includes(one) || (letters.length >= LEAST_NAME && one.includes(letters))) ||
    words.some((word) => word.length >= Math.max(LEAST_NAME, host.length * HOST_SHARE) && host.includes(word))
  );
}

/** Returns the name of the site in its host: `acme` for `https://www.acme.co.uk/`. */
function hostName(url: string): string {
  const labels = URL.parse(url)?.hostname.split('.') ?? [];
  const isSecondLevel = labels.length > 2 && (labels.at(-2) as string).length <= 3;
  return squeeze(labels.at(isSecondLevel ? -3 : -2) ?? '');
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The share of words two texts have in common, 0 to 1. */
function likeness(a: string, b: string): number {
  const left = new Set(wordsOf(a));
  const right = new Set(wordsOf(b));
  if (left.size === 0 || right.size === 0) return 0;
  let common = 0;
  for (const word of left) if (right.has(word)) common++;
  return (2 * common) / (left.size + right.size);
}
