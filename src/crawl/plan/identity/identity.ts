import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { ClientHints, Identity } from '../../../core/model/identity.ts';
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
const ACCEPT =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7';

/**
 * The same chances give the same identity. Throws UNSUPPORTED_OPTION for a country that is not in the table and for a
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
    accept: ACCEPT,
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
