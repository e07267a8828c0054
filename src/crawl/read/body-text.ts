import { decodeAs } from '../../extract/charset/charset.ts';
import { extractPage } from '../../extract/scan/extract-page.ts';
import { type DecodedBody, isTextual, withFrames } from './read-page.ts';

/** How a stored body was read. */
export interface BodyFacts {
  readonly contentType: string | null;
  readonly charset: string | null;
  readonly finalUrl: string;
}

/** The visible text of a stored body with its white space collapsed, of a long one the beginning; empty where there is none. */
export function textOfBody(body: Uint8Array, { contentType, charset, finalUrl }: BodyFacts): string {
  if (!isTextual(contentType)) return '';
  const decoded: DecodedBody = { text: decodeAs(body, charset), charset };
  const { text } = extractPage({
    ...withFrames(decoded, contentType, finalUrl),
    url: finalUrl,
    contentType,
    linkHeader: null,
    xRobotsTag: null,
    formats: [],
    keepsText: true,
  });
  return text ?? '';
}
