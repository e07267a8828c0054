/** What a browser saw after scripts had run. */
export interface RenderedFacts {
  /** Characters that are to be seen on the page itself. */
  readonly textLength: number;
  /** Fields for the visitor to fill in, hidden ones and those of widgets aside. */
  readonly fieldCount: number;
  /** Frames that are to be seen, with their size in CSS pixels. */
  readonly frames: readonly { readonly url: string; readonly width: number; readonly height: number }[];
}
