import { type PageTree, RAW_TEXT } from '../tree/page-tree.ts';

/** Indices that selectors need often and a tree of ranges does not give cheaply. Each is computed once, on first use. */
export class TreeIndex {
  readonly tree: PageTree;
  #places: Places | null = null;
  #typePlaces: Places | null = null;

  constructor(tree: PageTree) {
    this.tree = tree;
  }

  isElement(node: number): boolean {
    return node > 0 && (this.tree.tags[node] as number) < RAW_TEXT;
  }

  /** The element before this one under the same parent; -1 before the first. */
  previous(node: number): number {
    return this.#all().previous[node] as number;
  }

  /** 1 for the first element of its parent. */
  position(node: number): number {
    return this.#all().positions[node] as number;
  }

  /** 1 for the last element of its parent. */
  positionFromEnd(node: number): number {
    const { positions, counts } = this.#all();
    return (counts[node] as number) - (positions[node] as number) + 1;
  }

  /** As `position`, counting only elements of the same name. */
  typePosition(node: number): number {
    return this.#ofType().positions[node] as number;
  }

  typePositionFromEnd(node: number): number {
    const { positions, counts } = this.#ofType();
    return (counts[node] as number) - (positions[node] as number) + 1;
  }

  #all(): Places {
    this.#places ??= placesOf(this.tree, () => 0);
    return this.#places;
  }

  #ofType(): Places {
    const { hashes } = this.tree;
    this.#typePlaces ??= placesOf(this.tree, (node) => hashes[node] as number);
    return this.#typePlaces;
  }
}

interface Places {
  readonly previous: Int32Array;
  readonly positions: Int32Array;
  /** Number of such elements under the same parent. */
  readonly counts: Int32Array;
}

/** Numbers elements under each parent, by group. */
function placesOf(tree: PageTree, groupOf: (node: number) => number): Places {
  const { count, tags, ends } = tree;
  const previous = new Int32Array(count).fill(-1);
  const positions = new Int32Array(count);
  const counts = new Int32Array(count);
  const lastOf = new Map<number, number>();
  for (let parent = 0; parent < count; parent++) {
    const end = ends[parent] as number;
    if ((tags[parent] as number) >= RAW_TEXT || parent + 1 >= end) continue;
    lastOf.clear();
    for (let child = parent + 1; child < end; child = ends[child] as number) {
      if ((tags[child] as number) >= RAW_TEXT) continue;
      const group = groupOf(child);
      const last = lastOf.get(group) ?? -1;
      previous[child] = last;
      positions[child] = last < 0 ? 1 : (positions[last] as number) + 1;
      lastOf.set(group, child);
    }
    for (const last of lastOf.values()) {
      const total = positions[last] as number;
      for (let at = last; at >= 0; at = previous[at] as number) counts[at] = total;
    }
  }
  return { previous, positions, counts };
}
