/**
 * Limits of one page. A page that exceeds a limit is cut there, always at the same position, and reported as truncated;
 * it is never an error, because the rest of the page is still useful.
 */
export const LIMITS = {
  /** Start and end tags read. */
  tags: 1_000_000,
  /** Elements open at once whose ends are tracked. */
  depth: 512,
  attributesPerTag: 256,
  links: 10_000,
  images: 2_000,
  headings: 1_000,
  metaTags: 500,
  /** Entries of hreflang and of feeds, each. */
  alternates: 1_000,
  jsonLdBlocks: 64,
  jsonLdChars: 262_144,
  jsonLdDepth: 64,
  /** Microdata and RDFa, each. */
  items: 2_000,
  itemDepth: 32,
  itemValues: 20_000,
  itemValueChars: 10_000,
  /** All names and values of the items of one kind. */
  itemChars: 2_000_000,
  urlChars: 4_096,
  titleChars: 1_000,
  anchorChars: 500,
  headingChars: 500,
  /** Lists of words in an attribute: rel, itemprop … */
  wordsChars: 1_000,
  metaChars: 5_000,
  noscriptChars: 500,
  scriptSources: 50,
  linkHeaderChars: 65_536,
} as const;
