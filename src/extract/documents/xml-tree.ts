import { decodeHTML } from 'entities/decode';
import { SaxesParser } from 'saxes';
import { hashName } from '../html/names.ts';
import { PageTree, TEXT } from '../tree/page-tree.ts';
import { DOCUMENT_LIMITS } from './document-limits.ts';

export interface XmlElement {
  /** As it is written, with its prefix. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (XmlElement | string)[];
}

export interface XmlTree {
  readonly root: XmlElement;
  /** The first error and its position; null for well-formed XML. */
  readonly flaw: string | null;
  /** True when a limit cut the document. */
  readonly isCut: boolean;
}

interface Open {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (XmlElement | string)[];
}

const PIECE_CHARS = 65_536;
const FLAW_CHARS = 200;
/** Repairs: an ampersand without an entity stands for itself; entities of HTML are known without a DTD. */
const TO_MEND =
  /<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)(?:([A-Za-z][A-Za-z0-9]{0,30});)?/g;
/** A text with more errors is not XML; each of them costs time. */
const MAX_FLAWS = 1_000;
const MAX_MENDS = 100_000;

/** The tag of every element: names of XML have none of the meanings that they have in HTML. */
const NO_TAG = 0;

/**
 * Builds a small tree of XML, well-formed or not: open elements are closed at the end, end tags without a start tag are
 * ignored. Document types are ignored, so their entities are never expanded. Null when there is no element.
 */
export function buildXmlTree(source: string): XmlTree | null {
  const text = mended(source.slice(0, DOCUMENT_LIMITS.xmlChars));
  const document: Open = { name: '', attributes: {}, children: [] };
  const open: Open[] = [document];
  let flaw: string | null = null;
  let elements = 0;
  let flaws = 0;
  let isCut = false;
  const parser = new SaxesParser({ xmlns: false, position: true });
  const top = (): Open => open[open.length - 1] ?? document;
  const addText = (piece: string): void => {
    const { children } = top();
    const last = children.length - 1;
    const before = children[last];
    if (typeof before === 'string') children[last] = before + piece;
    else children.push(piece);
  };

  // unguarded: the parser calls these while it is written to below, where errors are caught.
  parser.on('opentag', ({ name, attributes }) => {
    if (isCut) return;
    elements++;
    if (elements > DOCUMENT_LIMITS.xmlElements || open.length > DOCUMENT_LIMITS.xmlDepth) {
      isCut = true;
      return;
    }
    const element: Open = { name, attributes, children: [] };
    top().children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => {
    if (!isCut && open.length > 1) open.pop();
  });
  parser.on('text', (piece) => {
    if (!isCut && open.length > 1) addText(piece);
  });
  parser.on('cdata', (piece) => {
    if (!isCut && open.length > 1) addText(piece);
  });
  parser.on('error', ({ message }) => {
    if (isCut) return;
    flaw ??= message.slice(0, FLAW_CHARS);
    flaws++;
    if (flaws > MAX_FLAWS) isCut = true;
  });

  try {
    for (let at = 0; at < text.length && !isCut; at += PIECE_CHARS)
      parser.write(text.slice(at, at + PIECE_CHARS));
    const isWhole = source.length <= DOCUMENT_LIMITS.xmlChars;
    if (!isCut && isWhole) parser.close();
    else isCut = true;
  } catch (error) {
    flaw ??= error instanceof Error ? error.message.slice(0, FLAW_CHARS) : 'it cannot be read';
  }
  const root = document.children.find((child) => typeof child !== 'string');
  return root === undefined ? null : { root, flaw, isCut };
}

function mended(source: string): string {
  const text = source.trimStart();
  if (!text.includes('&')) return text;
  const out: string[] = [];
  let from = 0;
  TO_MEND.lastIndex = 0;
  // CDATA is matched only to be skipped.
  for (let match = TO_MEND.exec(text); match !== null; match = TO_MEND.exec(text)) {
    const [found, name] = match;
    if (found.startsWith('<')) continue;
    out.push(text.slice(from, match.index), name === undefined ? '&amp;' : characterOf(name));
    from = match.index + found.length;
    if (out.length > MAX_MENDS * 2) break;
  }
  out.push(text.slice(from));
  return out.join('');
}

function characterOf(name: string): string {
  const decoded = decodeHTML(`&${name};`);
  if (decoded === `&${name};`) return `&amp;${name};`;
  return decoded.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** The name without its prefix. */
export const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

export function* elementsIn(parent: XmlElement): Generator<XmlElement> {
  for (const child of parent.children) if (typeof child !== 'string') yield child;
}

/** All text below an element, with a space where an element ends. */
export function textIn(element: XmlElement): string {
  const out: string[] = [];
  collect(element, out);
  return out.join(' ').replace(/\s+/g, ' ').trim();
}

function collect(element: XmlElement, out: string[]): void {
  for (const child of element.children) {
    if (typeof child === 'string') out.push(child);
    else collect(child, out);
  }
}

/** The inner markup of an element. */
export function markupIn(element: XmlElement): string {
  const out: string[] = [];
  write(element, out);
  return out.join('');
}

function write({ children }: XmlElement, out: string[]): void {
  for (const child of children) {
    if (typeof child === 'string') {
      out.push(escaped(child));
      continue;
    }
    const name = localName(child.name);
    const attributes = Object.entries(child.attributes).filter(([key]) => !key.startsWith('xmlns'));
    out.push(`<${name}${attributes.map(([key, value]) => ` ${key}="${escaped(value)}"`).join('')}>`);
    write(child, out);
    if (!VOID.test(name)) out.push(`</${name}>`);
  }
}

const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/**
 * XML as the tree that selectors search. Its size is that of the XML, which the reader has bounded. Names are found in any case,
 * as on web pages, with their prefix (`dc|creator`) or without (`creator`).
 */
export function xmlPageTree(root: XmlElement): PageTree {
  const builder = new XmlPageTreeBuilder();
  builder.add(root, 0);
  return builder.finish();
}

class XmlPageTreeBuilder {
  /** Names, values and texts one after the other; nodes refer to places in it. */
  readonly #pieces: string[] = [];
  #length = 0;
  readonly #tags: number[] = [NO_TAG];
  readonly #hashes: number[] = [0];
  readonly #localHashes: number[] = [0];
  readonly #parents: number[] = [-1];
  readonly #ends: number[] = [0];
  readonly #starts: number[] = [0];
  readonly #stops: number[] = [0];
  readonly #firstAttributes: number[] = [0];
  readonly #attributes: number[] = [];

  /** Recursion is bounded by the depth that the reader of XML allows. */
  add({ name, attributes, children }: XmlElement, parent: number): void {
    const node = this.#node(NO_TAG, name, parent);
    this.#hashes[node] = hashName(name);
    this.#localHashes[node] = hashName(localName(name));
    for (const [key, value] of Object.entries(attributes)) this.#attribute(key, value);
    for (const child of children) {
      if (typeof child === 'string') this.#node(TEXT, withoutReferences(child), node);
      else this.add(child, node);
    }
    this.#ends[node] = this.#tags.length;
  }

  finish(): PageTree {
    const count = this.#tags.length;
    this.#ends[0] = count;
    const columns = {
      tags: Uint8Array.from(this.#tags),
      hashes: Int32Array.from(this.#hashes),
      localHashes: Int32Array.from(this.#localHashes),
      parents: Int32Array.from(this.#parents),
      ends: Int32Array.from(this.#ends),
      starts: Int32Array.from(this.#starts),
      stops: Int32Array.from(this.#stops),
      firstAttributes: Int32Array.from([...this.#firstAttributes, this.#attributes.length]),
      attributes: Int32Array.from(this.#attributes),
    };
    return new PageTree(this.#pieces.join(''), count, columns, false);
  }

  #node(tag: number, text: string, parent: number): number {
    const node = this.#tags.length;
    this.#tags.push(tag);
    this.#hashes.push(0);
    this.#localHashes.push(0);
    this.#parents.push(parent);
    this.#ends.push(node + 1);
    this.#starts.push(this.#length);
    this.#write(text);
    this.#stops.push(this.#length);
    this.#firstAttributes.push(this.#attributes.length);
    return node;
  }

  /** Adds an attribute, as the `ATTRIBUTE_SLOTS` numbers that stand for it. */
  #attribute(name: string, value: string): void {
    const nameStart = this.#length;
    this.#write(name);
    const nameEnd = this.#length;
    this.#write(withoutReferences(value));
    this.#attributes.push(hashName(name), nameStart, nameEnd, nameEnd, this.#length);
  }

  #write(text: string): void {
    this.#pieces.push(text);
    this.#length += text.length;
  }
}

/** Entities are decoded already, and the tree decodes them when it is asked for a text. */
const withoutReferences = (text: string): string => text.replaceAll('&', '&amp;');
