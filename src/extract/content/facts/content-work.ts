import type { TypedObject } from '../features/page-signals.ts';
import type { PageType } from '../model/page-type.ts';

const MOST = 20;
/** Types of written works. Reviews, comments, answers, images and videos are parts of a page. */
const TEXTS: ReadonlySet<string> = new Set([
  'article',
  'newsarticle',
  'blogposting',
  'techarticle',
  'scholarlyarticle',
  'medicalscholarlyarticle',
  'reportagenewsarticle',
  'analysisnewsarticle',
  'opinionnewsarticle',
  'backgroundnewsarticle',
  'reviewnewsarticle',
  'advertisercontentarticle',
  'satiricalarticle',
  'report',
  'socialmediaposting',
  'liveblogposting',
  'discussionforumposting',
  'question',
  'recipe',
  'howto',
  'guide',
  'learningresource',
  'creativework',
  'podcastepisode',
]);
const PAGES: ReadonlySet<string> = new Set([
  'webpage',
  'itempage',
  'aboutpage',
  'contactpage',
  'collectionpage',
  'faqpage',
  'qapage',
  'profilepage',
  'medicalwebpage',
]);

/** Pages that are one text, so that the names and dates on them are likely to be those of the text. */
export function isText(type: PageType): boolean {
  return type === 'article' || type === 'documentation' || type === 'forum';
}

/** Structured objects that describe the page as a whole, the most detailed first. */
export function worksOf(objects: readonly TypedObject[], type: PageType): readonly TypedObject[] {
  const ofKind = (kind: ReadonlySet<string>): readonly TypedObject[] =>
    objects.filter(({ types }) => types.some((name) => kind.has(name)));
  const texts = ofKind(TEXTS);
  const pages = ofKind(PAGES);
  // Several texts on a page of another type are list entries.
  return (isText(type) || texts.length === 1 ? [...texts, ...pages] : pages).slice(0, MOST);
}
