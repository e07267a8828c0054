import { collapse } from '../../html/white-space.ts';
import { countWords } from '../features/blocks.ts';
import type { ContentEvidence } from '../features/evidence.ts';
import type { TypedObject } from '../features/page-signals.ts';
import type { PageType } from '../model/page-type.ts';
import { contentAuthor } from './content-author.ts';
import { contentDates } from './content-dates.ts';
import { type FactSources, findHead, ownElements } from './content-head.ts';
import { titleOf } from './content-title.ts';
import { worksOf } from './content-work.ts';

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
