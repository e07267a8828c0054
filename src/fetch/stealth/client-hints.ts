import type { Brand, ClientHints } from '../../model/identity.ts';

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

/** As the `sec-ch-ua` header lists them. */
export function brandHeader(brands: readonly Brand[]): string {
  return brands.map(({ brand, version }) => `"${brand}";v="${version}"`).join(', ');
}

function pick<T>(list: readonly [T, ...T[]] | readonly T[], seed: number): T {
  return list[seed % list.length] as T;
}
