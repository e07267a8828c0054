import type { PdfPiece } from './pdf-lines.ts';

export interface PdfCall {
  readonly bytes: Uint8Array;
  readonly pages: number;
  readonly textChars: number;
}

export interface PdfFacts {
  readonly title: string | null;
  readonly author: string | null;
  readonly createdAt: string | null;
  readonly modifiedAt: string | null;
  readonly language: string | null;
}

/** What the thread tells, in this order: the document, its pages, the end. */
export type PdfMessage =
  | { readonly kind: 'document'; readonly pageCount: number; readonly facts: PdfFacts }
  | { readonly kind: 'page'; readonly pieces: readonly PdfPiece[]; readonly links: readonly PdfLink[] }
  /** A page that the document promises and does not have, or that cannot be read. */
  | { readonly kind: 'bad-page'; readonly reason: string }
  | { readonly kind: 'end'; readonly isCut: boolean }
  | { readonly kind: 'failed'; readonly isEncrypted: boolean; readonly reason: string };

export interface PdfLink {
  readonly url: string;
}
