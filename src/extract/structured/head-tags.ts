import { LIMITS } from '../html/limits.ts';
import { type HeaderLink, parseLinkHeader, TypedLinks } from '../html/links.ts';
import { hashName, TAG } from '../html/names.ts';
import { collapse, cut } from '../html/page-text.ts';
import type { MarkupIndex } from './markup-index.ts';

const NAME = hashName('name');
const PROPERTY = hashName('property');
const CONTENT = hashName('content');
const REL = hashName('rel');
const HREF = hashName('href');
const TYPE = hashName('type');
const TITLE = hashName('title');
const HREFLANG = hashName('hreflang');

/** Vocabularies that belong to the Open Graph. */
const GRAPH = /^(?:og|article|book|profile|product|video|music|fb|place|business|event|restaurant):/;
const DUBLIN = /^(?:dc|dcterms|dct)[.:]/;

/** The `meta` and `link` elements of a page. Names are in lower case. */
export interface HeadTags {
  readonly title: string | null;
  /** Without `og:`; other vocabularies of the Open Graph keep their prefix. */
  readonly openGraph: ReadonlyMap<string, readonly string[]>;
  readonly twitter: ReadonlyMap<string, string>;
  /** Values of Dublin Core, by name without the prefix. */
  readonly dublinCore: ReadonlyMap<string, readonly string[]>;
  readonly named: ReadonlyMap<string, string>;
  readonly links: TypedLinks;
  readonly isTruncated: boolean;
}

export function readHeadTags(marks: MarkupIndex, linkHeader: string | null): HeadTags {
  const openGraph = new Map<string, string[]>();
  const twitter = new Map<string, string>();
  const dublinCore = new Map<string, string[]>();
  const named = new Map<string, string>();
  for (const node of marks.metas.slice(0, LIMITS.metaTags)) {
    const tag = readMeta(marks, node);
    if (tag === null) continue;
    const { key, content } = tag;
    if (key.startsWith('twitter:')) addFirst(twitter, key.slice(8), content);
    else if (GRAPH.test(key)) addMore(openGraph, key.startsWith('og:') ? key.slice(3) : key, content);
    else if (DUBLIN.test(key)) addMore(dublinCore, key.replace(DUBLIN, ''), content);
    else addFirst(named, key, content);
  }
  const links = readLinks(marks, linkHeader);
  return {
    title: readTitle(marks),
    openGraph,
    twitter,
    dublinCore,
    named,
    links,
    isTruncated: marks.metas.length > LIMITS.metaTags || links.isTruncated,
  };
}

function readMeta({ tree }: MarkupIndex, node: number): { key: string; content: string } | null {
  const content = tree.attribute(node, CONTENT)?.trim();
  const name = tree.attribute(node, PROPERTY)?.trim() || tree.attribute(node, NAME)?.trim();
  if (!content || !name) return null;
  return { key: cut(name.toLowerCase(), LIMITS.wordsChars), content: cut(content, LIMITS.metaChars) };
}

function addFirst(map: Map<string, string>, key: string, value: string): void {
  if (!map.has(key)) map.set(key, value);
}

function addMore(map: Map<string, string[]>, key: string, value: string): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else if (!values.includes(value)) values.push(value);
}

function readLinks({ tree, links, base, page }: MarkupIndex, linkHeader: string | null): TypedLinks {
  const typed = new TypedLinks();
  for (const node of links) {
    // Anchors count for pagination only; alternates and canonical URLs belong to the head.
    const isAnchor = tree.tags[node] === TAG.a;
    const rel = tree.attribute(node, REL)?.toLowerCase() ?? '';
    if (isAnchor && !/\b(?:next|prev|previous)\b/.test(rel)) continue;
    const href = tree.attribute(node, HREF) ?? '';
    const url = base.resolve(href);
    if (url === null) continue;
    const link: HeaderLink = {
      href,
      rel,
      type: tree.attribute(node, TYPE)?.toLowerCase() ?? null,
      title: tree.attribute(node, TITLE),
      hreflang: tree.attribute(node, HREFLANG),
    };
    typed.add(link, url, 'link');
  }
  typed.addHeader(parseLinkHeader(linkHeader), page);
  return typed;
}

function readTitle({ tree }: MarkupIndex): string | null {
  for (let node = 1; node < tree.count; node++) {
    if (tree.tags[node] !== TAG.title || tree.tags[tree.parents[node] as number] === TAG.svg) continue;
    const title = collapse(tree.textOf(node, LIMITS.titleChars * 8), LIMITS.titleChars);
    if (title !== '') return title;
  }
  return null;
}
