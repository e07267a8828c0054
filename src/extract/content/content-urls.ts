import { BaseUrl } from '../base-url.ts';
import { hashName } from '../name-table.ts';
import { srcsetCandidates } from '../srcset.ts';
import { TAG } from '../tag.ts';
import type { PageTree } from '../tree/page-tree.ts';

const HREF = hashName('href');
const SRC = hashName('src');
const LAZY = ['data-src', 'data-original', 'data-lazy-src', 'data-srcset', 'srcset'].map((name) => ({
  hash: hashName(name),
  isSet: name.endsWith('srcset'),
}));
const TITLE = hashName('title');
const ALT = hashName('alt');
const MOST_ALT_CHARS = 500;

/** What the addresses of a page are relative to: its own address, or what a `base` element says. */
export function baseOf(tree: PageTree, url: string): BaseUrl {
  const page = BaseUrl.parse(url) ?? BaseUrl.NOWHERE;
  for (let node = 1; node < tree.count; node++) {
    const tag = tree.tags[node];
    if (tag === TAG.body) break;
    if (tag !== TAG.base) continue;
    const href = tree.attribute(node, HREF);
    if (href === null) continue;
    const base = BaseUrl.parse(href, page);
    return base?.isWeb ? base : page;
  }
  return page;
}

/** Where a link leads; null for scripts, mail and places on the same page. */
export function linkOf(tree: PageTree, node: number, base: BaseUrl): string | null {
  const href = tree.attribute(node, HREF);
  return href === null ? null : base.resolve(href);
}

/** The address of an image; scripts often keep the real one elsewhere and put a placeholder into `src`. */
export function imageOf(tree: PageTree, node: number, base: BaseUrl): string | null {
  for (const { hash, isSet } of LAZY.slice(0, 4)) {
    const found = addressIn(tree.attribute(node, hash), isSet, base);
    if (found !== null) return found;
  }
  const source = tree.attribute(node, SRC);
  return addressIn(source, false, base) ?? addressIn(tree.attribute(node, LAZY[4]?.hash ?? 0), true, base);
}

function addressIn(value: string | null, isSet: boolean, base: BaseUrl): string | null {
  if (value === null || value === '') return null;
  const written = isSet ? (srcsetCandidates(value).at(-1)?.url ?? '') : value;
  return written === '' ? null : base.resolve(written);
}

export function altOf(tree: PageTree, node: number): string {
  const alt = tree.attribute(node, ALT) ?? tree.attribute(node, TITLE) ?? '';
  return alt.slice(0, MOST_ALT_CHARS).replace(/\s+/g, ' ').trim();
}
