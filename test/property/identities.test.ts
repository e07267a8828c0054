import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Identity } from '../../src/core/model/identity.ts';
import { createIdentity, seededRandom } from '../../src/crawl/plan/identity/identity.ts';
import { REGIONS } from '../../src/crawl/plan/identity/regions.ts';
import { humanPauses } from '../../src/fetch/stealth/human-input.ts';

/**
 * What a session pretends to be. Its neighbours: property 12 (a browser is replaced after so many pages) in
 * src/fetch/browser/pool/browser-pool.test.ts, 13 (fields that are missing) in rules.test.ts, 18 to 21 (proxies) in
 * src/crawl/plan/proxies/proxy-pool-properties.test.ts, 30 (credentials are kept for a while) in
 * src/capabilities/sessions/remote-credentials.test.ts.
 */
const someSeed = fc.string({ minLength: 1, maxLength: 24 });
const someRegion = fc.constantFrom(...Object.keys(REGIONS));
const someVersion = fc
  .tuple(fc.integer({ min: 120, max: 200 }), fc.nat(9_999), fc.nat(250))
  .map(([major, build, patch]) => `${major}.0.${build}.${patch}`);
const someSystem = fc.constantFrom('windows', 'macos', 'linux', undefined);
/** Drawing one takes some milliseconds. */
const RUNS = { numRuns: 60 };

const drawn = (
  seed: string,
  region: string,
  browserVersion: string,
  system?: 'windows' | 'macos' | 'linux',
): Identity =>
  createIdentity({
    region,
    browserVersion,
    random: seededRandom(seed),
    ...(system === undefined ? {} : { system }),
  });

describe('property 14: what an identity says', () => {
  it('keeps within what real browsers say, in agent, window, screen and machine', () => {
    fc.assert(
      fc.property(someSeed, someRegion, someVersion, someSystem, (seed, region, version, system) => {
        const identity = drawn(seed, region, version, system);
        const { viewport, screen, userAgent, clientHints } = identity;
        expect(viewport.width).toBeGreaterThanOrEqual(1_280);
        expect(viewport.width).toBeLessThanOrEqual(1_920);
        expect(viewport.height).toBeGreaterThanOrEqual(720);
        expect(viewport.height).toBeLessThanOrEqual(1_080);
        expect(viewport.width).toBeLessThanOrEqual(screen.availWidth);
        expect(viewport.height).toBeLessThan(screen.availHeight);
        expect(screen.availHeight).toBeLessThan(screen.height);
        expect([1, 1.25, 2]).toContain(screen.devicePixelRatio);
        const agents = {
          Win32: 'Windows NT 10.0; Win64; x64',
          MacIntel: 'Macintosh; Intel Mac OS X 10_15_7',
          'Linux x86_64': 'X11; Linux x86_64',
        };
        const token = agents[identity.platform as keyof typeof agents];
        const [major] = version.split('.');
        expect(userAgent).toBe(
          `Mozilla/5.0 (${token}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`,
        );
        expect(clientHints.fullVersion).toBe(version);
        expect(
          clientHints.brands.some(({ brand, version: of }) => brand === 'Google Chrome' && of === major),
        ).toBe(true);
        expect(identity.hardwareConcurrency).toBeGreaterThanOrEqual(4);
        expect([4, 8, 16, 32]).toContain(identity.deviceMemory);
      }),
      RUNS,
    );
  });
});

describe('property 15: an identity and the region of its address', () => {
  it('agree in time zone, languages and place', () => {
    fc.assert(
      fc.property(someSeed, someRegion, someVersion, (seed, region, version) => {
        const identity = drawn(seed, region.toUpperCase(), version);
        const { places = [], languages = [] } = REGIONS[region] ?? {};
        const place = places.find(({ timeZone }) => timeZone === identity.timeZone);
        expect(identity.region).toBe(region);
        expect(place).toBeDefined();
        expect(identity.languages).toEqual(languages);
        expect(identity.acceptLanguage.split(',').map((part) => part.split(';')[0])).toEqual(languages);
        expect(Object.fromEntries(identity.headers)['accept-language']).toBe(identity.acceptLanguage);
        expect(Math.abs(identity.geolocation.latitude - (place?.latitude ?? 999))).toBeLessThan(0.1);
        expect(Math.abs(identity.geolocation.longitude - (place?.longitude ?? 999))).toBeLessThan(0.1);
      }),
      RUNS,
    );
  });
});

describe('property 16: identities', () => {
  it('differ from one session to the next', () => {
    fc.assert(
      fc.property(someSeed, someRegion, someVersion, (seed, region, browserVersion) => {
        const random = seededRandom(seed);
        let before = createIdentity({ region, browserVersion, random });
        for (let session = 0; session < 4; session += 1) {
          const next = createIdentity({ region, browserVersion, random, unlike: before });
          const seen = ({ geolocation: _, ...rest }: Identity) => rest;
          expect(seen(next)).not.toEqual(seen(before));
          before = next;
        }
      }),
      { numRuns: 15 },
    );
  });

  it('stay the same within one', () => {
    fc.assert(
      fc.property(someSeed, someRegion, someVersion, (seed, region, version) => {
        const first = drawn(seed, region, version);
        expect(drawn(seed, region, version)).toEqual(first);
        expect(JSON.parse(JSON.stringify(first))).toEqual(first);
      }),
      { numRuns: 20 },
    );
  });
});

describe('property 17: pauses between actions', () => {
  it('keep within the range that is set, whichever way round it is given', () => {
    const someMs = fc.nat(10_000);
    fc.assert(
      fc.property(someSeed, someMs, someMs, (seed, one, other) => {
        const pause = humanPauses(seededRandom(seed), { minMs: one, maxMs: other });
        for (let count = 0; count < 30; count += 1) {
          const ms = pause();
          expect(Number.isInteger(ms)).toBe(true);
          expect(ms).toBeGreaterThanOrEqual(Math.min(one, other));
          expect(ms).toBeLessThanOrEqual(Math.max(one, other));
        }
      }),
    );
  });

  it('are 500 to 2,000 ms where nothing is set, and not always the same', () => {
    fc.assert(
      fc.property(someSeed, (seed) => {
        const pauses = Array.from({ length: 40 }, humanPauses(seededRandom(seed)));
        expect(Math.min(...pauses)).toBeGreaterThanOrEqual(500);
        expect(Math.max(...pauses)).toBeLessThanOrEqual(2_000);
        expect(new Set(pauses).size).toBeGreaterThan(10);
      }),
    );
  });
});
