import { LIMITS } from './limits.ts';

export interface HeaderLink {
  readonly href: string;
  readonly rel: string;
  readonly type: string | null;
  readonly hreflang: string | null;
  readonly title: string | null;
}

/** One parameter: `; name=token` or `; name="quoted"`, or without a value. */
const PARAMETER = /\s*;\s*([^\s=;,"]*)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/sy;
const MOST_PARAMETERS = 32;

/** The links of a `Link` header (RFC 8288). Broken entries are passed over; the first of a repeated parameter counts. */
export function parseLinkHeader(header: string | null): HeaderLink[] {
  const links: HeaderLink[] = [];
  if (header === null) return links;
  const text = header.slice(0, LIMITS.linkHeaderChars);
  let at = text.indexOf('<');
  while (at >= 0 && links.length < LIMITS.alternates) {
    const end = text.indexOf('>', at + 1);
    if (end < 0) break;
    const parameters = new Map<string, string>();
    PARAMETER.lastIndex = end + 1;
    let next = end + 1;
    for (let count = 0; count < MOST_PARAMETERS; count++) {
      const match = PARAMETER.exec(text);
      if (match === null) break;
      next = PARAMETER.lastIndex;
      const name = (match[1] ?? '').toLowerCase();
      const value = match[2] === undefined ? (match[3] ?? '') : match[2].replace(/\\(.)/gs, '$1');
      if (!parameters.has(name)) parameters.set(name, value);
    }
    links.push({
      href: text.slice(at + 1, end).trim(),
      rel: (parameters.get('rel') ?? '').toLowerCase(),
      type: parameters.get('type')?.toLowerCase() ?? null,
      hreflang: parameters.get('hreflang') ?? null,
      title: parameters.get('title') ?? null,
    });
    at = text.indexOf('<', next);
  }
  return links;
}
