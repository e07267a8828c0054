/** A scheme; `localhost:3000` is a host with its port. */
const SCHEME = /^[a-z][a-z0-9+.-]*:(?!\d+(?:[/?#]|$))/i;

/** The lines of a text that are not empty, without the spaces around them. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/**
 * The URL with the scheme that people leave out: `https://`, and `http://` for this computer and for addresses of IP, which
 * seldom have a certificate. A word that cannot be told from a name of something else stays as it is.
 */
export function fullUrl(typed: string): string {
  const text = typed.trim();
  if (text === '' || SCHEME.test(text)) return text;
  const host = URL.parse(`http://${text}`)?.hostname ?? '';
  const isLocal = /(?:^|\.)localhost$/.test(host) || /^\d+(?:\.\d+){3}$/.test(host) || host.startsWith('[');
  // `12` is read as an address too.
  if (isLocal && /^(?:\d+\.|\[|.*localhost)/i.test(text)) return `http://${text}`;
  return /^[^\s/?#]+\.[^\s/?#.]/.test(text) ? `https://${text}` : text;
}

/** Whether a text, with the scheme that may be left out, is the URL of a page. */
export const isPageUrl = (typed: string): boolean => {
  const url = fullUrl(typed);
  return /^https?:\/\/\S+$/i.test(url) && URL.canParse(url);
};
