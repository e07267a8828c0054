import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { ClientHints, Identity, OtherBrowser } from '../../../core/model/identity.ts';
import { brandHeader, brandsOf, majorOf } from '../../../fetch/stealth/client-hints.ts';
import { drawHardware, type Hardware, type OperatingSystem, pickScreen } from './hardware.ts';
import { REGIONS, type Region, type RegionPlace } from './regions.ts';

export interface IdentityRequest {
  /** Country of the address that the host will see, in either case. Null: unknown, taken as `us`. */
  readonly region: string | null;
  /** Full version of the Chromium that will be used: another version would contradict what its scripts can do. */
  readonly browserVersion: string;
  readonly random: () => number;
  /** Drawn when it does not matter. */
  readonly system?: OperatingSystem;
  /** The identity before this one: the new one differs from it. */
  readonly unlike?: Identity;
}

const DEFAULT_REGION = 'us';
const MOST_DRAWS = 8;
const CHROME_ACCEPT =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7';

/**
 * Equal chances give an equal identity. Throws UNSUPPORTED_OPTION for a country that is not in the table and for a
 * browser version that is none.
 */
export function createIdentity(request: IdentityRequest): Identity {
  const { random, browserVersion, unlike } = request;
  const code = request.region?.toLowerCase() ?? DEFAULT_REGION;
  const region = Object.hasOwn(REGIONS, code) ? REGIONS[code] : undefined;
  if (region === undefined) {
    throw new ScrapifieError(
      'UNSUPPORTED_OPTION',
      `No identity can be made for the country "${code.slice(0, 20)}".`,
    );
  }
  if (!/^\d{2,4}(?:\.\d{1,6}){3}$/.test(browserVersion)) {
    throw new ScrapifieError('UNSUPPORTED_OPTION', 'The version of the browser must have four parts.');
  }
  let identity = assemble(code, region, request);
  for (let draws = 1; unlike !== undefined && isAlike(identity, unlike) && draws < MOST_DRAWS; draws += 1) {
    identity = assemble(code, region, { ...request, random });
  }
  return unlike !== undefined && isAlike(identity, unlike) ? shifted(identity) : identity;
}

function assemble(
  code: string,
  region: Region,
  { random, browserVersion, system }: IdentityRequest,
): Identity {
  const hardware = drawHardware(system ?? pickSystem(random), random);
  const { screen, viewport } = pickScreen(hardware.system, random);
  const place = pickPlace(region, random);
  const hints = hintsOf(hardware, browserVersion);
  const userAgent = `Mozilla/5.0 (${TOKENS[hardware.system]}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${majorOf(browserVersion)}.0.0.0 Safari/537.36`;
  const acceptLanguage = acceptLanguageOf(region.languages);
  return {
    kind: 'browser',
    region: code,
    userAgent,
    clientHints: hints,
    platform: hardware.platform,
    screen,
    viewport,
    timeZone: place.timeZone,
    geolocation: nearby(place, random),
    languages: region.languages,
    acceptLanguage,
    hardwareConcurrency: hardware.hardwareConcurrency,
    deviceMemory: hardware.deviceMemory,
    maxTouchPoints: 0,
    videoCard: hardware.videoCard,
    headers: headersOf(hardware, hints, userAgent, acceptLanguage),
  };
}

/** How browsers of these systems name them, whatever their real version is. */
const TOKENS: Readonly<Record<OperatingSystem, string>> = {
  windows: 'Windows NT 10.0; Win64; x64',
  macos: 'Macintosh; Intel Mac OS X 10_15_7',
  linux: 'X11; Linux x86_64',
};
const PLATFORMS: Readonly<Record<OperatingSystem, string>> = {
  windows: 'Windows',
  macos: 'macOS',
  linux: 'Linux',
};

function pickSystem(random: () => number): OperatingSystem {
  const drawn = random();
  return drawn < 0.7 ? 'windows' : drawn < 0.93 ? 'macos' : 'linux';
}

/** Half of the people live around the first place. */
function pickPlace({ places }: Region, random: () => number): RegionPlace {
  const index = random() < 0.5 ? 0 : Math.floor(random() * places.length);
  return (places[index] ?? places[0]) as RegionPlace;
}

const AROUND_DEGREES = 0.08;

function nearby({ latitude, longitude }: RegionPlace, random: () => number): Identity['geolocation'] {
  const off = (): number => (random() * 2 - 1) * AROUND_DEGREES;
  const rounded = (degrees: number): number => Math.round(degrees * 10_000) / 10_000;
  return {
    latitude: rounded(latitude + off()),
    longitude: rounded(longitude + off()),
    accuracy: 20 + Math.floor(random() * 80),
  };
}

function hintsOf({ system, platformVersion, architecture }: Hardware, fullVersion: string): ClientHints {
  return {
    ...brandsOf(fullVersion),
    fullVersion,
    platform: PLATFORMS[system],
    platformVersion,
    architecture,
    bitness: '64',
    model: '',
    mobile: false,
    wow64: false,
  };
}

/** `de-DE,de;q=0.9,en;q=0.8`, as Chrome writes it. */
function acceptLanguageOf(languages: readonly string[]): string {
  return languages
    .map((language, index) => (index === 0 ? language : `${language};q=${Math.max(1, 10 - index) / 10}`))
    .join(',');
}

function headersOf(
  { headerNames }: Hardware,
  hints: ClientHints,
  userAgent: string,
  acceptLanguage: string,
): Identity['headers'] {
  const values: Readonly<Record<string, string>> = {
    'sec-ch-ua': brandHeader(hints.brands),
    'sec-ch-ua-mobile': '?0',
    'sec-ch-ua-platform': `"${hints.platform}"`,
    'upgrade-insecure-requests': '1',
    'user-agent': userAgent,
    accept: CHROME_ACCEPT,
    'sec-fetch-site': 'none',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-user': '?1',
    'sec-fetch-dest': 'document',
    'accept-encoding': 'gzip, deflate, br, zstd',
    'accept-language': acceptLanguage,
    priority: 'u=0, i',
  };
  const known = headerNames.map((name) => name.toLowerCase()).filter((name) => Object.hasOwn(values, name));
  const missing = Object.keys(values).filter((name) => !known.includes(name));
  return [...known, ...missing].map((name) => [name, values[name] ?? ''] as const);
}

/** Whether a host can tell the identities apart; the exact position is left out, because few hosts ask for it. */
function isAlike(one: Identity, other: Identity): boolean {
  const seen = ({ geolocation: _, ...rest }: Identity): string => JSON.stringify(rest);
  return seen(one) === seen(other);
}

/** The last resort of a generator without any variety: a window that is a little lower. */
function shifted(identity: Identity): Identity {
  const { width, height } = identity.viewport;
  const lower = height - 8 >= 720 ? height - 8 : height + 8;
  return { ...identity, viewport: { width, height: lower } };
}

/** Recent versions for which the library that speaks TLS has a handshake. */
const FIREFOX = '150.0';
const SAFARI = '26.2';
const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** This visitor with another browser: its user agent, its headers in its order, and no client hints, which only Chrome has. */
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

/** Chances that are the same for the same name, in [0, 1): a session's name gives its identity again and again. */
export function seededRandom(name: string): () => number {
  let state = 0x9e3779b9;
  for (let index = 0; index < name.length; index += 1) {
    state = Math.imul(state ^ name.charCodeAt(index), 0x85ebca6b);
    state ^= state >>> 13;
  }
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
