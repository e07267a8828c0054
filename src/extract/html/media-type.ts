/** Servers separate parameters with a semicolon; some forget it, and some send the header twice, joined by a comma. */
const MEDIA_TYPE = /^\s*([^\s;,]*)/;

/** The media type of a Content-Type header in lower case, without parameters; empty when the header is missing. */
export function mediaTypeOf(contentType: string | null): string {
  return MEDIA_TYPE.exec(contentType ?? '')?.[1]?.toLowerCase() ?? '';
}

/** True for a Content-Type header that declares an HTML document; false when the header is missing. */
export function isHtmlType(contentType: string | null): boolean {
  const type = mediaTypeOf(contentType);
  return type === 'text/html' || type === 'application/xhtml+xml';
}
