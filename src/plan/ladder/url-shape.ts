/** Pages of one shape are made by the same template: what is true of one is likely true of the others. */
export interface UrlShape {
  /** Short names, from the shape itself up to the host as a whole. */
  readonly own: string;
  readonly parent: string;
}

const MOST_SEGMENTS = 3;
/** Segments that name one thing among many: numbers, ids, titles. */
const VARIABLE = /\d|%|[-_].*[-_]|^.{25,}$/;

export function shapeOf(url: string): UrlShape {
  const segments = pathOf(url)
    .split('/', MOST_SEGMENTS)
    .map((segment) => (VARIABLE.test(segment) ? '#' : segment.toLowerCase()));
  return {
    own: `s${shortHash(segments.join('/'))}`,
    parent: `p${shortHash(segments.slice(0, -1).join('/'))}`,
  };
}

/** Without slashes around it. By hand: this is asked for every page, and a parsed URL costs more than all the rest. */
function pathOf(url: string): string {
  const scheme = url.indexOf('//');
  const start = url.indexOf('/', scheme === -1 ? 0 : scheme + 2);
  if (start === -1) return '';
  const tail = url.slice(start).search(/[?#]/);
  const end = tail === -1 ? url.length : start + tail;
  return url.slice(start + 1, url[end - 1] === '/' ? Math.max(start + 1, end - 1) : end);
}

/** FNV-1a: a collision costs one needless fetch, a long name would cost room in every host's row. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
