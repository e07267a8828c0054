/** Limits of rule sets and of their cost. Larger rule sets are refused before any fetch; a page that exceeds a limit fails with a typed error. */
export const RULE_LIMITS = {
  /** All fields, nested ones and fallbacks included. */
  fields: 500,
  /** How deep fields may be nested in fields. */
  depth: 10,
  nameChars: 100,
  /** A selector, a pattern, a path, a template. */
  selectorChars: 4_000,
  /** Brackets within brackets of one selector. */
  selectorNesting: 32,
  fallbacks: 10,
  transforms: 20,
  /** Values of one list. */
  listItems: 10_000,
  /** Characters of a single value. */
  valueChars: 1_000_000,
  /** The whole result, written as JSON. */
  outputBytes: 8_000_000,
  /** Arrays and objects within each other, in what a rule takes out of JSON. */
  jsonDepth: 64,
  /** Characters that one regular expression searches; the rest of the text is ignored. */
  regexChars: 2_000_000,
  /** Visits of nodes, comparisons and the like, for all rules of a page. */
  steps: 100_000_000,
  timeMs: 5_000,
  /** Problems reported for one page. */
  problems: 100,
  /** Parts of a JSON Schema. */
  schemaParts: 2_000,
  schemaDepth: 64,
} as const;
