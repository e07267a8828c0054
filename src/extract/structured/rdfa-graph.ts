import type { BaseUrl } from '../base-url.ts';
import { LIMITS } from '../limits.ts';
import { TAG } from '../tag.ts';
import { cut, words } from '../white-space.ts';
import type { DataElement } from './data-element.ts';
import { type DataItem, ItemGraph, type ItemValue, isItem, type TextSlot } from './item.ts';
import { absolute } from './page-marks.ts';
import { KNOWN_PREFIXES, nameOf } from './vocabulary.ts';

const MOST_PREFIXES = 200;

/** What holds within an element: for names without a prefix, for those with one, and whom properties describe. */
interface Scope {
  readonly vocab: string;
  readonly prefixes: ReadonlyMap<string, string>;
  readonly subject: DataItem | null;
}

/**
 * The things of a page's RDFa Lite, with `about` and `content` besides, read element by element. Properties outside of any
 * thing (Open Graph tags are such) are left to others, and an address on an element without a property does not change
 * whom the ones inside describe.
 */
export class RdfaGraph {
  readonly items = new ItemGraph('rdfa');
  readonly #typeName: (address: string) => string;
  readonly #scopes: Scope[] = [{ vocab: '', prefixes: KNOWN_PREFIXES, subject: null }];

  /** `typeName` says what the type with an address is called. */
  constructor(typeName: (address: string) => string) {
    this.#typeName = typeName;
  }

  /** Whether there is a thing here that properties describe. */
  get hasSubject(): boolean {
    return (this.#scopes.at(-1) as Scope).subject !== null;
  }

  /** An element begins; each one must be left again. The answer, if any, waits for the element's text. */
  enter(element: DataElement, base: BaseUrl): TextSlot | null {
    const outer = this.#scopes.at(-1) as Scope;
    const vocab = element.attribute('vocab')?.trim() ?? outer.vocab;
    const prefixes = withPrefixes(outer.prefixes, element.attribute('prefix'));
    const scope = { vocab, prefixes };
    const about = element.attribute('about');
    const properties = words(element.attribute('property')).map((name) => nameOf(addressOf(name, scope)));
    const types = words(element.attribute('typeof')).map((name) => this.#typeName(addressOf(name, scope)));
    const described = about === null ? outer.subject : this.items.item(idOf(base, about, scope));
    let subject = described;
    let slot: TextSlot | null = null;
    if (types.length > 0) {
      const target = about ?? targetOf(element);
      const item = this.items.item(target === null ? null : idOf(base, target, scope));
      if (item !== null) {
        for (const type of types) if (!item.types.includes(type)) item.types.push(type);
        const owner = about === null ? outer.subject : null;
        if (owner !== null && properties.length > 0) this.#add(owner, properties, item);
        else this.items.addRoot(item);
        subject = item;
      }
    } else if (properties.length > 0) {
      if (described !== null) {
        const value = this.#carried(element, base, scope);
        if (value === null) slot = this.items.awaitText(described, properties.map(cutName));
        else this.#add(described, properties, value);
      }
    } else {
      const resource = element.attribute('resource');
      if (resource !== null) subject = this.items.item(idOf(base, resource, scope));
    }
    if (subject !== null && subject !== outer.subject && types.length === 0) this.items.addRoot(subject);
    this.#scopes.push({ ...scope, subject });
    return slot;
  }

  leave(): void {
    if (this.#scopes.length > 1) this.#scopes.pop();
  }

  /** Things that others hold as a value are no roots, and an element with a type and nothing in it says nothing. */
  finish(): readonly DataItem[] {
    const roots = this.items.finish();
    const held = new Set<ItemValue>();
    for (const root of roots) {
      for (const values of root.properties.values()) {
        for (const value of values) if (isItem(value) && value !== root) held.add(value);
      }
    }
    const free = roots.filter((root) => !held.has(root));
    return (free.length > 0 ? free : roots).filter(({ properties }) => properties.size > 0);
  }

  #add(owner: DataItem, names: readonly string[], value: ItemValue): void {
    for (const name of names) this.items.add(owner, cutName(name), value);
  }

  /** The value that an element carries in an attribute; null where its text is the value. */
  #carried(element: DataElement, base: BaseUrl, scope: Pick<Scope, 'prefixes'>): ItemValue | null {
    const content = element.attribute('content');
    if (content !== null) return cut(content, LIMITS.itemValueChars);
    const target = targetOf(element);
    if (target !== null) {
      const id = idOf(base, target, scope);
      return (id === null ? null : this.items.item(id)) ?? absolute(base, target);
    }
    const { tag } = element;
    const written =
      tag === TAG.time ? element.attribute('datetime') : tag === TAG.data ? element.attribute('value') : null;
    return written === null ? null : cut(written, LIMITS.itemValueChars);
  }
}

const cutName = (name: string): string => cut(name, LIMITS.wordsChars);

/** The address an element leads to. */
function targetOf(element: DataElement): string | null {
  return element.attribute('resource') ?? element.attribute('href') ?? element.attribute('src');
}

function withPrefixes(
  outer: ReadonlyMap<string, string>,
  written: string | null,
): ReadonlyMap<string, string> {
  if (written === null) return outer;
  const own = new Map(outer);
  const parts = written.trim().split(/\s+/);
  for (let at = 0; at + 1 < parts.length && own.size < MOST_PREFIXES; at += 2) {
    const [prefix, address] = [parts[at] as string, parts[at + 1] as string];
    if (prefix.endsWith(':')) own.set(prefix.slice(0, -1).toLowerCase(), address);
  }
  return own;
}

function addressOf(name: string, { vocab, prefixes }: Pick<Scope, 'vocab' | 'prefixes'>): string {
  const colon = name.indexOf(':');
  if (colon < 0) return vocab + name;
  const address = prefixes.get(name.slice(0, colon).toLowerCase());
  return address === undefined || name.startsWith('//', colon + 1) ? name : address + name.slice(colon + 1);
}

/** The id an address gives: absolute, also for a place within the page; null for an empty one. `_:x` is a name, no address. */
function idOf(base: BaseUrl, written: string, { prefixes }: Pick<Scope, 'prefixes'>): string | null {
  const reference = written.trim();
  if (reference === '') return null;
  if (reference.startsWith('_:')) return cut(reference, LIMITS.urlChars);
  if (reference.startsWith('#')) return cut(`${base.href.split('#', 1)[0]}${reference}`, LIMITS.urlChars);
  if (reference.startsWith('[') && reference.endsWith(']'))
    return nameOf(addressOf(reference.slice(1, -1), { vocab: '', prefixes }));
  return absolute(base, reference);
}
