import { hashName } from '../html/name-table.ts';
import { PageTree, TEXT } from '../tree/page-tree.ts';
import { localName, type XmlElement } from './xml-tree.ts';

/** The tag of every element: names of XML have none of the meanings that they have in HTML. */
const NO_TAG = 0;

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
      if (typeof child === 'string') this.#node(TEXT, escaped(child), node);
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
    this.#write(escaped(value));
    this.#attributes.push(hashName(name), nameStart, nameEnd, nameEnd, this.#length);
  }

  #write(text: string): void {
    this.#pieces.push(text);
    this.#length += text.length;
  }
}

/** Entities are decoded already, and the tree decodes them when it is asked for a text. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;');
