import { hashName } from '../../name-table.ts';
import { TAG } from '../../tag.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import { countWords } from '../blocks.ts';
import type { TypedObject } from '../page-signals.ts';
import { isText } from './content-work.ts';
import type { FactSources } from './fact-sources.ts';
import { isSiteName, joinNames } from './person-name.ts';
import { shownAuthor } from './shown-author.ts';

interface StatedAuthor {
  readonly name: string;
  readonly isPerson: boolean;
}

const NAME = hashName('name');
const PROPERTY = hashName('property');
const CONTENT = hashName('content');
const CITED = 'citation_author';
/** Handles (`twitter:creator`) are no names. */
const AUTHOR_META = [CITED, 'citation_authors', 'author', 'article:author', 'dc.creator', 'dcterms.creator'];
const TEXT_META = [...AUTHOR_META, 'byl', 'parsely-author', 'sailthru.author'];
const MOST_AUTHORS = 10;

/**
 * Who wrote what the page is about; several names are joined by commas. Null where the page does not say: the author of a
 * review or of an entry of a list is not asked for, nor the site as the author of itself.
 */
export function contentAuthor(sources: FactSources): string | null {
  const { type, site } = sources;
  const stated = [...workAuthors(sources), ...metaAuthors(sources)];
  const firstOf = (isWanted: (author: StatedAuthor) => boolean): string | null => {
    for (const authors of stated) {
      const names = authors.filter(isWanted).map(({ name }) => name);
      const joined = joinNames(names, site);
      if (joined !== null) return joined;
    }
    return null;
  };
  const named = firstOf(({ name }) => !isSiteName(name, site));
  if (named !== null || !isText(type)) return named;
  // People may call their site by their own name: that counts when the text names nobody else.
  return shownAuthor(sources) ?? firstOf(({ isPerson }) => isPerson);
}

/** The authors of each of the works. */
function workAuthors({ evidence, works, type }: FactSources): StatedAuthor[][] {
  return works.map(({ value }) => {
    const { author = value.creator } = value;
    const list: unknown[] = Array.isArray(author) ? author.slice(0, MOST_AUTHORS) : [author];
    return list
      .map((entry) => authorIn(entry, evidence.signals.objects))
      .filter((found) => found !== null)
      .filter(({ isPerson }) => isPerson || isText(type));
  });
}

/** An author as a text, or as an object, which may only point at where it is told. */
function authorIn(entry: unknown, objects: readonly TypedObject[]): StatedAuthor | null {
  if (typeof entry === 'string') return { name: entry, isPerson: false };
  if (entry === null || typeof entry !== 'object') return null;
  const own = entry as Readonly<Record<string, unknown>>;
  const id = own['@id'];
  const told =
    typeof id === 'string' && id !== ''
      ? objects.find(({ value }) => value['@id'] === id && typeof value.name === 'string')?.value
      : undefined;
  const name = typeof own.name === 'string' ? own.name : told?.name;
  if (typeof name !== 'string') return null;
  return { name, isPerson: String(own['@type'] ?? told?.['@type'] ?? 'Person').includes('Person') };
}

/** The authors that each kind of meta tag names. */
function metaAuthors({ evidence, type, site }: FactSources): StatedAuthor[][] {
  const { meta } = evidence.signals;
  // On other pages than texts, a single word is the name of a firm, and tools count the newest entry.
  const keys = isText(type) ? TEXT_META : AUTHOR_META;
  const lists = keys.filter((key) => meta.has(key)).map((key) => metaValues(evidence.tree, key));
  for (const number of [1, 2])
    if (isText(type) && /^(?:written by|author)$/i.test(meta.get(`twitter:label${number}`) ?? ''))
      lists.push([meta.get(`twitter:data${number}`) ?? '']);
  return lists.map((names) =>
    names
      .filter((name) => isText(type) || countWords(name) > 1)
      .map((name) => ({
        name,
        // A host may be named after a person.
        isPerson: countWords(name) > 1 && !isSiteName(name, { ...site, url: '' }),
      })),
  );
}

/** All values of a meta tag: papers have one for each author. */
function metaValues(tree: PageTree, key: string): string[] {
  const values: string[] = [];
  for (let node = 1; node < tree.count && tree.tags[node] !== TAG.body; node++) {
    if (tree.tags[node] !== TAG.meta) continue;
    const name = tree.attribute(node, PROPERTY) ?? tree.attribute(node, NAME) ?? '';
    if (name.trim().toLowerCase() !== key) continue;
    const value = tree.attribute(node, CONTENT) ?? '';
    // `Bell, Ann`.
    values.push(key === CITED ? value.replace(/^([^,]+),([^,]+)$/, '$2 $1') : value);
    if (values.length >= MOST_AUTHORS) break;
  }
  return values;
}
