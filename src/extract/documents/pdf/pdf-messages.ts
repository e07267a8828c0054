import type { PdfPiece } from './pdf-layout.ts';

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

export interface PdfMethods {
  read(call: PdfCall): Promise<PdfEnd>;
}

/** What the thread sends while it reads, in this order: the document, then its pages. */
export type PdfNotice =
  | { readonly kind: 'document'; readonly pageCount: number; readonly facts: PdfFacts }
  | {
      readonly kind: 'page';
      readonly pieces: readonly PdfPiece[];
      readonly links: readonly PdfLink[];
      /** The page has more text or links than are read of one. */
      readonly isCut: boolean;
    }
  /** A page that the document promises and does not have, or that cannot be read. */
  | { readonly kind: 'bad-page'; readonly reason: string };

export type PdfEnd =
  | { readonly kind: 'end'; readonly isCut: boolean }
  | { readonly kind: 'failed'; readonly isEncrypted: boolean; readonly reason: string };

export interface PdfLink {
  readonly url: string;
}

const SHAPE =
  /^(?:D:)?(\d{4})(?:(\d{2})(?:(\d{2})(?:(\d{2})(?:(\d{2})(?:(\d{2}))?)?)?)?)?\s*(?:(Z)|([+-])(\d{2})'?(?:(\d{2})'?)?)?/;

/** A date of PDF, `D:20260912101500+02'00'`: the moment with its offset where it has one, else the day. Null for any other text. */
export function pdfDate(written: unknown): string | null {
  const match = typeof written === 'string' ? SHAPE.exec(written.trim()) : null;
  if (match === null) return null;
  const [
    ,
    year = '',
    month = '01',
    day = '01',
    hour,
    minute = '00',
    second = '00',
    zulu,
    sign,
    zoneHour,
    zoneMinute,
  ] = match;
  const date = `${year}-${month}-${day}`;
  const midnight = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return null;
  if (hour === undefined || (zulu === undefined && sign === undefined)) return date;
  const zone = sign === undefined ? 'Z' : `${sign}${zoneHour}:${zoneMinute ?? '00'}`;
  const moment = `${date}T${hour}:${minute}:${second}${zone}`;
  const time = Date.parse(moment);
  if (Number.isNaN(time)) return date;
  return zone === 'Z' ? new Date(time).toISOString() : moment;
}
