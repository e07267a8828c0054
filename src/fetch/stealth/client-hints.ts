import type { Brand, ClientHints, Identity } from '../../core/model/identity.ts';

const GREASE_SIGNS = [' ', '(', ':', '-', '.', '/', ')', ';', '=', '?', '_'];
const GREASE_VERSIONS = ['8', '99', '24'];
/** Where the greased brand, Chromium and Google Chrome stand. */
const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
] as const;

/**
 * The brands of Google Chrome. One of them is made up by the browser, and that one's name, its version and the order
 * of the three follow from the major version: a list that does not fit its version gives a disguise away.
 */
export function brandsOf(fullVersion: string): Pick<ClientHints, 'brands' | 'fullVersionList'> {
  const major = majorOf(fullVersion);
  const greased = `Not${pick(GREASE_SIGNS, major)}A${pick(GREASE_SIGNS, major + 1)}Brand`;
  const greasedVersion = pick(GREASE_VERSIONS, major);
  const [first, second, third] = pick(ORDERS, major);
  const arranged = (greasedAs: string, version: string): Brand[] => {
    const list: Brand[] = [];
    list[first] = { brand: greased, version: greasedAs };
    list[second] = { brand: 'Chromium', version };
    list[third] = { brand: 'Google Chrome', version };
    return list;
  };
  return {
    brands: arranged(greasedVersion, String(major)),
    fullVersionList: arranged(`${greasedVersion}.0.0.0`, fullVersion),
  };
}

export function majorOf(fullVersion: string): number {
  return Number.parseInt(fullVersion, 10);
}

/** Formats brands as the header `sec-ch-ua` lists them. */
export function brandHeader(brands: readonly Brand[]): string {
  return brands.map(({ brand, version }) => `"${brand}";v="${version}"`).join(', ');
}

function pick<T>(list: readonly [T, ...T[]] | readonly T[], seed: number): T {
  return list[seed % list.length] as T;
}

const VERSION = /^\d{2,4}(?:\.\d{1,6}){3}$/;

/**
 * This visitor with a browser of this version: another one would contradict what its scripts can do. Returns the given
 * object when nothing has to change, or when the version is none that a Chrome has.
 */
export function fitIdentity(identity: Identity, browserVersion: string): Identity {
  const { clientHints, userAgent } = identity;
  if (!VERSION.test(browserVersion) || clientHints.fullVersion === browserVersion) return identity;
  const brands = brandsOf(browserVersion);
  const agent = userAgent.replace(/(?<=\bChrome\/)\d+/, String(majorOf(browserVersion)));
  const headers: Readonly<Record<string, string>> = {
    'user-agent': agent,
    'sec-ch-ua': brandHeader(brands.brands),
  };
  return {
    ...identity,
    userAgent: agent,
    clientHints: { ...clientHints, ...brands, fullVersion: browserVersion },
    headers: identity.headers.map(([name, value]) => [name, headers[name] ?? value] as const),
  };
}
