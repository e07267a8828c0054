/** Limits of one document. A larger one is cut there, and a problem reports it. */
export const DOCUMENT_LIMITS = {
  /** The most characters of `text`, and as many of `markdown`. */
  textChars: 5_000_000,
  titleChars: 1_000,
  links: 10_000,
  jsonChars: 32_000_000,
  jsonDepth: 256,
  jsonValues: 1_000_000,
  xmlChars: 16_000_000,
  xmlDepth: 256,
  xmlElements: 200_000,
  csvRows: 50_000,
  csvColumns: 1_000,
  csvCells: 1_000_000,
  csvColumnNameChars: 500,
  /** Rows of a table in Markdown, which is for reading; all of them are in `table`. */
  markdownRows: 1_000,
  feedItems: 5_000,
  /** Summaries and names in feeds. */
  feedValueChars: 100_000,
  feedHtmlChars: 1_000_000,
  feedCategories: 100,
  feedEnclosures: 50,
} as const;

export interface PdfLimits {
  readonly bytes: number;
  readonly pages: number;
  /** Time limit for the whole document, start of its thread included. */
  readonly timeMs: number;
  /**
   * Memory of the thread that reads the document, besides the document itself: objects, and buffers such as inflated
   * streams.
   */
  readonly heapMb: number;
  readonly bufferBytes: number;
  readonly textChars: number;
}

export const PDF_LIMITS: PdfLimits = {
  bytes: 64 * 1_048_576,
  pages: 500,
  // Less than the time of a page in its thread, so that pages read until then are kept.
  timeMs: 12_000,
  heapMb: 192,
  bufferBytes: 256 * 1_048_576,
  textChars: 5_000_000,
};
