import { KNOWN_PREFIXES, nameOf } from './vocabulary.ts';

const MOST_TERMS = 1_000;
const SCHEMA_CONTEXT = /^https?:\/\/(?:www\.)?schema\.org(?:\/|$)/i;

/** What the names in a JSON-LD document mean. A context inside another one adds to it. */
export interface JsonLdContext {
  /** Terms and prefixes: an address or a keyword each. */
  readonly terms: ReadonlyMap<string, string>;
  /** Terms whose values are addresses. */
  readonly links: ReadonlySet<string>;
  /** Put before names that nothing else explains; empty for schema.org, whose names stay short. */
  readonly vocab: string;
}

/** schema.org lets documents say `type` and `id` for `@type` and `@id`. */
export const NO_CONTEXT: JsonLdContext = {
  terms: new Map([
    ['type', '@type'],
    ['id', '@id'],
  ]),
  links: new Set(),
  vocab: '',
};

export function withContext(outer: JsonLdContext, written: unknown): JsonLdContext {
  const parts: unknown[] = Array.isArray(written) ? written.slice(0, 20) : [written];
  return parts.reduce<JsonLdContext>(withPart, outer);
}

function withPart(outer: JsonLdContext, part: unknown): JsonLdContext {
  if (typeof part === 'string') {
    return SCHEMA_CONTEXT.test(part) ? { ...outer, vocab: '' } : outer;
  }
  if (part === null || typeof part !== 'object' || Array.isArray(part)) return outer;
  const terms = new Map(outer.terms);
  const links = new Set(outer.links);
  let { vocab } = outer;
  for (const [term, meaning] of Object.entries(part).slice(0, MOST_TERMS)) {
    if (term === '@vocab') {
      vocab = typeof meaning === 'string' && !SCHEMA_CONTEXT.test(meaning) ? meaning : '';
    } else if (typeof meaning === 'string') {
      terms.set(term, meaning);
    } else if (meaning !== null && typeof meaning === 'object') {
      const { '@id': id, '@type': type } = meaning as Readonly<Record<string, unknown>>;
      if (typeof id === 'string') terms.set(term, id);
      if (type === '@id') links.add(term);
    }
  }
  return { terms, links, vocab };
}

/** The keyword, short name or address that a name in the document stands for. */
export function meaningOf(name: string, context: JsonLdContext): string {
  if (name.startsWith('@')) return name;
  const term = context.terms.get(name);
  if (term !== undefined && term !== name)
    return term.startsWith('@') ? term : nameOf(expandPrefix(term, context));
  const expanded = expandPrefix(name, context);
  return expanded === name && !name.includes(':') ? context.vocab + name : nameOf(expanded);
}

function expandPrefix(name: string, { terms }: JsonLdContext): string {
  const colon = name.indexOf(':');
  if (colon < 1 || name.startsWith('//', colon + 1)) return name;
  const prefix = name.slice(0, colon);
  const address = terms.get(prefix) ?? KNOWN_PREFIXES.get(prefix);
  return address === undefined || address.startsWith('@') ? name : address + name.slice(colon + 1);
}
