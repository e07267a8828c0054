import { codeFence } from '../content/render/markdown-inline.ts';
import { collapse } from '../html/white-space.ts';
import type { DateContext, DocumentProblem, DocumentReading } from './document-content.ts';
import { DOCUMENT_LIMITS } from './document-limits.ts';
import { renderFeed } from './feed.ts';
import { LinkList } from './link-list.ts';
import { readXmlFeed } from './xml-feed.ts';
import { buildXmlTree, elementsIn, localName, textIn, type XmlElement, type XmlTree } from './xml-tree.ts';

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
