import type { Identity, OtherBrowser } from '../../../core/model/identity.ts';

/** Recent versions for which the library that speaks TLS has a handshake. */
const FIREFOX = '150.0';
const SAFARI = '26.2';
const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** The same visitor with another browser: its user agent, its headers in its order, and no client hints, which only Chrome has. */
export function asBrowser(identity: Identity, family: OtherBrowser): Identity {
  const { clientHints, languages } = identity;
  const isFirefox = family === 'firefox';
  const userAgent = isFirefox ? firefoxAgent(clientHints.platform) : SAFARI_AGENT;
  const acceptLanguage = isFirefox ? firefoxLanguages(languages) : identity.acceptLanguage;
  return {
    ...identity,
    family,
    userAgent,
    acceptLanguage,
    clientHints: { ...clientHints, brands: [], fullVersionList: [] },
    headers: isFirefox ? firefoxHeaders(userAgent, acceptLanguage) : safariHeaders(userAgent, acceptLanguage),
  };
}

const SAFARI_AGENT = `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${SAFARI} Safari/605.1.15`;

const SYSTEMS: Readonly<Record<string, string>> = {
  Windows: 'Windows NT 10.0; Win64; x64',
  macOS: 'Macintosh; Intel Mac OS X 10.15',
  Linux: 'X11; Linux x86_64',
};

const firefoxAgent = (platform: string): string =>
  `Mozilla/5.0 (${SYSTEMS[platform] ?? SYSTEMS.Windows}; rv:${FIREFOX}) Gecko/20100101 Firefox/${FIREFOX}`;

/** `de,en-US;q=0.7,en;q=0.3`: Firefox spreads the weights evenly. */
function firefoxLanguages(languages: readonly string[]): string {
  return languages
    .map((language, index) => {
      const weight = Math.max(1, Math.round((1 - index / languages.length) * 10)) / 10;
      return index === 0 ? language : `${language};q=${weight}`;
    })
    .join(',');
}

const firefoxHeaders = (userAgent: string, acceptLanguage: string): Identity['headers'] => [
  ['user-agent', userAgent],
  ['accept', ACCEPT],
  ['accept-language', acceptLanguage],
  ['accept-encoding', 'gzip, deflate, br, zstd'],
  ['upgrade-insecure-requests', '1'],
  ['sec-fetch-dest', 'document'],
  ['sec-fetch-mode', 'navigate'],
  ['sec-fetch-site', 'none'],
  ['sec-fetch-user', '?1'],
  ['priority', 'u=0, i'],
];

const safariHeaders = (userAgent: string, acceptLanguage: string): Identity['headers'] => [
  ['sec-fetch-dest', 'document'],
  ['user-agent', userAgent],
  ['accept', ACCEPT],
  ['sec-fetch-site', 'none'],
  ['sec-fetch-mode', 'navigate'],
  ['accept-language', acceptLanguage],
  ['priority', 'u=0, i'],
  ['accept-encoding', 'gzip, deflate, br'],
];
