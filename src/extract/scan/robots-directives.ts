/** The robots directives of a page that a crawl obeys. */
export interface RobotsDirectives {
  readonly isNofollow: boolean;
  readonly isNoindex: boolean;
}

const OUR_NAME = 'scrapifiebot';
/** Directives that carry a colon themselves; every other word before a colon names a robot. */
const WITH_VALUE = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);

/** True for meta tags addressed to all robots or to this crawler. */
export function isAddressedToUs(name: string): boolean {
  return name === 'robots' || name === OUR_NAME;
}

/** Reads the content of a robots meta tag. */
export function readRobotsContent(content: string): RobotsDirectives {
  let isNofollow = false;
  let isNoindex = false;
  for (const part of content.toLowerCase().split(/[,;\s]+/)) {
    if (part === 'none') return { isNofollow: true, isNoindex: true };
    if (part === 'nofollow') isNofollow = true;
    else if (part === 'noindex') isNoindex = true;
  }
  return { isNofollow, isNoindex };
}

/**
 * The directives of an `X-Robots-Tag` header that are addressed to all robots or to this crawler, joined by commas.
 * `name: a, b` binds `a` and `b` to the robot of that name, up to the next name or line; lines are separate headers.
 */
export function ownRobotsHeader(header: string | null): string {
  if (header === null) return '';
  const own: string[] = [];
  for (const line of header.split('\n')) {
    let isOurs = true;
    for (const part of line.split(',')) {
      let directive = part.trim();
      const named = /^([\w*-]+)\s*:\s*(.*)$/s.exec(directive);
      const name = named?.[1]?.toLowerCase();
      if (name !== undefined && !WITH_VALUE.has(name)) {
        isOurs = name === OUR_NAME || name === '*' || name === 'robots';
        directive = named?.[2] ?? '';
      }
      if (isOurs && directive !== '') own.push(directive);
    }
  }
  return own.join(', ');
}
