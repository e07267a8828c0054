import { hashName } from '../../name-table.ts';
import { TAG } from '../../tag.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import { headingLevel } from '../block-facts.ts';
import type { Evidence } from '../block-features.ts';
import { type Block, countWords } from '../blocks.ts';
import { AWAY_HINTS, blockAt } from './content-head.ts';
import type { FactSources } from './fact-sources.ts';
import { cleanName, isPersonName, joinNames } from './person-name.ts';

const CONTENT = hashName('content');
const ITEM_PROPERTY = hashName('itemprop');
const LINE_WORDS = 16;
/** Words beside the name in an element that only a class calls the author: a role, a date. */
const OTHER_WORDS = 4;
/** A person is named somewhere in the first few nodes of what is marked as an author. */
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

/** The author by the text of a page and the marks on it, the surest first. */
export function shownAuthor(sources: FactSources): string | null {
  const { head, elements } = sources;
  return (
    authorsAmong(elements.authors, sources, true) ??
    (head === null ? null : lineAuthor(sources, head.from, head.to)) ??
    authorsAmong(elements.bylines, sources, false) ??
    signedAuthor(sources)
  );
}

/** The names in elements that stand for authors. `isMarked`: by data, which may stand anywhere; else by a class or an address. */
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
    // Outside of the head, one of several alike is of an entry of some list.
    if (!isHead && !isForum && shape.outerUnit[node] !== 0) continue;
    const name = cleanName(nameWithin(evidence, node), site, !isMarked);
    if (name === null || !isPersonName(name, isForum)) continue;
    if (!isMarked && !isForum) {
      const words = countWords(name);
      if (words < 2 || (shape.words[node] as number) - words > OTHER_WORDS) continue;
    }
    names.push(name);
    // A thread is its first post; of an article all that are named together count.
    if (isForum) break;
    if (end === tree.count) end = tree.ends[outerOf(tree, outerOf(tree, node))] as number;
  }
  return joinNames(names, site);
}

const outerOf = (tree: PageTree, node: number): number => Math.max(0, tree.parents[node] as number);

/** The name in an element that stands for a person: what is marked so, else its first link, else its first line. */
function nameWithin({ tree, blocks }: Evidence, node: number): string {
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

/** A line that says who wrote it, or the one after a line that only announces it. */
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

/** Whom lines below the head of an article name as who wrote it; null when they do not agree. */
function signedAuthor(sources: FactSources): string | null {
  const { evidence, type, head } = sources;
  if (type !== 'article' || head === null) return null;
  const { blocks, shape } = evidence;
  let author: string | null = null;
  for (let index = head.to; index < blocks.length; index++) {
    const { text, container } = blocks[index] as Block;
    if (!isLine(blocks[index] as Block) || !SIGNED.test(text)) continue;
    if (((shape.hintsAround[container] as number) & AWAY_HINTS) !== 0) continue;
    const name = lineAuthor(sources, index, index + 1);
    if (name !== null && author !== null && name !== author) return null;
    author ??= name;
  }
  return author;
}
