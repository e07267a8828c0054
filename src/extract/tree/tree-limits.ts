/** What a tree may hold. A page beyond it is cut there, always at the same place, and marked as truncated. */
export const TREE_LIMITS = {
  /** Elements and texts. */
  nodes: 400_000,
  attributes: 800_000,
  /** Deeper elements are left out; their texts belong to the last one that is not. */
  depth: 256,
} as const;
