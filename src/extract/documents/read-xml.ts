import { codeFence } from '../content/render/markdown-inline.ts';
import { collapse } from '../html/page-text.ts';
import {
  type DateContext,
  type DocumentProblem,
  type DocumentReading,
  LinkList,
} from './document-content.ts';
import { DOCUMENT_LIMITS } from './document-limits.ts';
import { FeedBuilder, type FeedReading, type RawFeedItem, renderFeed } from './feed.ts';
import {
  buildXmlTree,
  elementsIn,
  localName,
  markupIn,
  textIn,
  type XmlElement,
  type XmlTree,
} from './xml-tree.ts';

/** Element names of each value, the likeliest first. Prefixes are compared as written, without their namespace. */
const RSS = {
  id: ['guid', 'id', 'dc:identifier'],
  title: ['title', 'media:title', 'dc:title'],
  summary: ['description', 'summary', 'itunes:summary', 'dc:description', 'media:description'],
  html: ['content:encoded', 'body', 'content'],
  author: ['dc:creator', 'author', 'itunes:author', 'creator', 'managingEditor'],
  publishedAt: ['pubDate', 'dc:date', 'published', 'date', 'dcterms:issued'],
  modifiedAt: ['atom:updated', 'lastBuildDate', 'dcterms:modified', 'updated', 'a10:updated'],
  categories: ['category', 'dc:subject'],
} as const;

const ATOM: Named = {
  id: ['id'],
  title: ['title', 'media:title'],
  summary: ['summary', 'subtitle', 'tagline', 'media:description'],
  html: ['content'],
  author: ['author'],
  publishedAt: ['published', 'issued', 'created'],
  modifiedAt: ['updated', 'modified'],
  categories: ['category'],
};

/** Reads XML and the feeds written in it; null for any other text, and for XHTML pages. */
export function readXmlDocument(
  text: string,
  url: string,
  hints: DateContext,
  isDeclared: boolean,
): DocumentReading | null {
  const tree = buildXmlTree(text);
  if (tree === null) {
    if (!isDeclared) return null;
    const problem: DocumentProblem = {
      code: 'xml-broken',
      message: 'It is said to be XML, but has no element.',
    };
    return {
      kind: 'xml',
      text,
      markdown: codeFence(text.slice(0, DOCUMENT_LIMITS.textChars), 'xml'),
      problems: [problem],
    };
  }
  if (localName(tree.root.name).toLowerCase() === 'html') return null;
  const problems = problemsOf(tree);
  const feed = readXmlFeed(tree.root, new LinkList(url, 'feed'), hints);
  if (feed !== null) {
    const rendered = renderFeed(feed.feed, feed.links);
    return { ...rendered, xml: tree.root, problems: [...problems, ...feed.problems] };
  }
  const links = new LinkList(url, 'xml');
  const lines: string[] = [];
  readElement(tree.root, lines, links);
  return {
    kind: 'xml',
    xml: tree.root,
    title: titleOf(tree.root),
    language: tree.root.attributes['xml:lang']?.trim() || null,
    text: lines.join('\n'),
    markdown: codeFence(text.slice(0, DOCUMENT_LIMITS.textChars), 'xml'),
    links: links.all,
    problems,
  };
}

function problemsOf({ flaw, isCut }: XmlTree): DocumentProblem[] {
  const problems: DocumentProblem[] = [];
  if (flaw !== null) problems.push({ code: 'xml-broken', message: `It is not well-formed: ${flaw}` });
  if (isCut) {
    const { xmlElements, xmlDepth, xmlChars } = DOCUMENT_LIMITS;
    const message = `It has more than ${xmlElements} elements, ${xmlDepth} levels or ${xmlChars} characters; what is beyond was not read.`;
    problems.push({ code: 'xml-too-large', message });
  }
  return problems;
}

/** A line for each piece of text. */
function readElement(element: XmlElement, lines: string[], links: LinkList): void {
  const { attributes } = element;
  links.add(attributes.href ?? attributes['xlink:href'] ?? attributes.src);
  for (const child of element.children) {
    if (typeof child === 'string') {
      const line = child.replace(/\s+/g, ' ').trim();
      if (line !== '') lines.push(line);
      if (/^https?:\/\/\S+$/i.test(line)) links.add(line);
    } else readElement(child, lines, links);
  }
}

function titleOf(root: XmlElement): string | null {
  for (const name of ['title', 'name']) {
    const found = [...elementsIn(root)].find((child) => localName(child.name).toLowerCase() === name);
    const title = found === undefined ? '' : collapse(textIn(found), DOCUMENT_LIMITS.titleChars);
    if (title !== '') return title;
  }
  return null;
}

type Named = Readonly<Record<keyof typeof RSS, readonly string[]>>;

type Children = ReadonlyMap<string, readonly XmlElement[]>;

/** Reads RSS of all versions and Atom; null for any other root. */
function readXmlFeed(root: XmlElement, links: LinkList, hints: DateContext): FeedReading | null {
  const name = localName(root.name).toLowerCase();
  const prefix = root.name.slice(0, root.name.indexOf(':') + 1);
  if (name === 'feed') return readFeed(root, childrenOf(root, prefix), 'atom', links, hints);
  if (name !== 'rss' && name !== 'rdf') return null;
  const inRoot = childrenOf(root, '');
  const channel = inRoot.get('channel')?.[0];
  if (channel === undefined && name === 'rdf') return null;
  const children = channel === undefined ? inRoot : childrenOf(channel, '');
  const beside = inRoot.get('item') ?? [];
  const all = new Map(children).set('item', [...(children.get('item') ?? []), ...beside]);
  return readFeed(root, all, name, links, hints);
}

function readFeed(
  root: XmlElement,
  children: Children,
  format: 'rss' | 'rdf' | 'atom',
  links: LinkList,
  hints: DateContext,
): FeedReading {
  const names = format === 'atom' ? ATOM : RSS;
  const prefix = format === 'atom' ? root.name.slice(0, root.name.indexOf(':') + 1) : '';
  const language = textOf(children, ['language', 'dc:language']) ?? root.attributes['xml:lang'];
  const draft = new FeedBuilder(links, { ...hints, locale: language?.trim() || hints.locale });
  for (const item of children.get(format === 'atom' ? 'entry' : 'item') ?? []) {
    draft.addItem(itemOf(childrenOf(item, prefix), names));
  }
  return draft.finish({
    format,
    version: root.attributes.version ?? (format === 'rdf' ? '1.0' : format === 'atom' ? '1.0' : null),
    title: textOf(children, names.title),
    description: textOf(children, names.summary),
    url: linkOf(children),
    nextUrl: linkOf(children, 'next'),
    language,
    author: authorOf(children, names.author),
    image: imageOf(children),
    modifiedAt: textOf(children, [...names.modifiedAt, ...names.publishedAt]),
  });
}

function itemOf(children: Children, names: Named): RawFeedItem {
  const [guid] = children.get('guid') ?? [];
  const permalink = guid !== undefined && guid.attributes.isPermaLink !== 'false' ? textIn(guid) : null;
  const summary = markupOf(children, names.summary);
  return {
    id: textOf(children, names.id),
    url: linkOf(children) ?? (permalink !== null && /^https?:/i.test(permalink) ? permalink : null),
    title: textOf(children, names.title),
    summary,
    html: markupOf(children, names.html),
    isSummaryHtml: true,
    author: authorOf(children, names.author),
    publishedAt: textOf(children, names.publishedAt),
    modifiedAt: textOf(children, names.modifiedAt),
    categories: listOf(children, names.categories).map(
      (each) => each.attributes.label ?? each.attributes.term ?? textIn(each),
    ),
    image: imageOf(children),
    enclosures: enclosuresOf(children),
  };
}

/** Elements by name. What the root's prefix qualifies counts as unqualified. */
function childrenOf(parent: XmlElement, prefix: string): Children {
  const found = new Map<string, XmlElement[]>();
  for (const child of elementsIn(parent)) {
    const name =
      prefix !== '' && child.name.startsWith(prefix) ? child.name.slice(prefix.length) : child.name;
    const same = found.get(name);
    if (same === undefined) found.set(name, [child]);
    else same.push(child);
  }
  return found;
}

function listOf(children: Children, names: readonly string[]): readonly XmlElement[] {
  return names.flatMap((name) => children.get(name) ?? []);
}

function textOf(children: Children, names: readonly string[]): string | null {
  for (const element of listOf(children, names)) {
    const text = textIn(element);
    if (text !== '') return text;
  }
  return null;
}

/** Markup is escaped text, or inline XHTML. */
function markupOf(children: Children, names: readonly string[]): string | null {
  for (const element of listOf(children, names)) {
    const isMarkup = [...elementsIn(element)].length > 0;
    const markup = isMarkup ? markupIn(element) : element.children.join('');
    if (markup.trim() !== '') return markup;
  }
  return null;
}

function linkOf(children: Children, rel = 'alternate'): string | null {
  const all = listOf(children, ['link', 'atom:link', 'atom10:link', 'a10:link']);
  const isHtml = ({ attributes }: XmlElement): boolean => /html|^$/.test(attributes.type ?? '');
  const typed = all.filter(
    ({ attributes }) => attributes.href !== undefined && (attributes.rel ?? 'alternate') === rel,
  );
  const written = rel === 'alternate' ? all.map(textIn).find((text) => text !== '') : undefined;
  return written ?? (typed.find(isHtml) ?? typed[0])?.attributes.href ?? null;
}

/** Atom's authors are elements of their own; RSS writes `mail@example.com (Name)`. */
function authorOf(children: Children, names: readonly string[]): string | null {
  for (const name of names) {
    const found = (children.get(name) ?? []).map((element) => {
      const inside = [...elementsIn(element)].find((each) => localName(each.name) === 'name');
      const text = textIn(inside ?? element);
      return /^\S+@\S+\s*\((.{1,200})\)$/.exec(text)?.[1] ?? text;
    });
    const all = [...new Set(found.filter((author) => author !== ''))];
    if (all.length > 0) return all.join(', ');
  }
  return null;
}

function imageOf(children: Children): string | null {
  for (const element of listOf(children, [
    'itunes:image',
    'media:thumbnail',
    'image',
    'logo',
    'icon',
    'media:content',
  ])) {
    const { href, url, medium, type } = element.attributes;
    if (element.name === 'media:content' && medium !== 'image' && !/^image\//.test(type ?? '')) continue;
    const inside = [...elementsIn(element)].find((each) => each.name === 'url');
    const found = href ?? url ?? textIn(inside ?? element);
    if (found !== '') return found;
  }
  return null;
}

function enclosuresOf(children: Children): RawFeedItem['enclosures'] {
  const links = listOf(children, ['link', 'atom:link']).filter(
    ({ attributes }) => attributes.rel === 'enclosure',
  );
  return [...(children.get('enclosure') ?? []), ...links].map(({ attributes }) => ({
    url: attributes.url ?? attributes.href,
    type: attributes.type,
    bytes: attributes.length === undefined ? undefined : Number(attributes.length),
  }));
}
