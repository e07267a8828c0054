import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Identity } from '../../../core/model/identity.ts';
import { brandsOf } from '../../../fetch/stealth/client-hints.ts';
import { drawHardware } from './hardware.ts';
import { createIdentity, type IdentityRequest, seededRandom } from './identity.ts';
import { REGIONS } from './regions.ts';

const VERSION = '156.0.8078.79';
const COUNTRIES = Object.keys(REGIONS);
const identityFor = (seed: string, more: Partial<IdentityRequest> = {}): Identity =>
  createIdentity({ region: 'de', browserVersion: VERSION, random: seededRandom(seed), ...more });
const someSeed = fc.string({ minLength: 1, maxLength: 20 });
const someCountry = fc.constantFrom(...COUNTRIES);
/** Drawing one takes some milliseconds. */
const RUNS = { numRuns: 40 };

describe('an identity', () => {
  test('has a user agent that real browsers have, and a window of a usual size', () => {
    const known =
      /^Mozilla\/5\.0 \((?:Windows NT 10\.0; Win64; x64|Macintosh; Intel Mac OS X 10_15_7|X11; Linux x86_64)\) AppleWebKit\/537\.36 \(KHTML, like Gecko\) Chrome\/156\.0\.0\.0 Safari\/537\.36$/;
    fc.assert(
      fc.property(someSeed, someCountry, (seed, region) => {
        const { userAgent, viewport, screen, hardwareConcurrency, deviceMemory } = identityFor(seed, {
          region,
        });
        expect(userAgent).toMatch(known);
        expect(viewport.width).toBeGreaterThanOrEqual(1280);
        expect(viewport.width).toBeLessThanOrEqual(Math.min(1920, screen.width));
        expect(viewport.height).toBeGreaterThanOrEqual(720);
        expect(viewport.height).toBeLessThanOrEqual(Math.min(1080, screen.availHeight));
        expect(hardwareConcurrency).toBeGreaterThanOrEqual(4);
        expect([4, 8, 16, 32]).toContain(deviceMemory);
      }),
      RUNS,
    );
  });

  test('agrees with the region of its address in time, language and place', () => {
    fc.assert(
      fc.property(someSeed, someCountry, fc.boolean(), (seed, region, isUpper) => {
        const identity = identityFor(seed, { region: isUpper ? region.toUpperCase() : region });
        const known = REGIONS[region];
        const place = known?.places.find(({ timeZone }) => timeZone === identity.timeZone);
        expect(identity.region).toBe(region);
        expect(identity.languages).toEqual(known?.languages);
        expect(identity.acceptLanguage.split(',')[0]).toBe(identity.languages[0]);
        expect(identity.acceptLanguage.split(',').map((part) => part.split(';')[0])).toEqual(
          identity.languages,
        );
        expect(Math.abs(identity.geolocation.latitude - (place?.latitude ?? 999))).toBeLessThan(0.1);
        expect(Math.abs(identity.geolocation.longitude - (place?.longitude ?? 999))).toBeLessThan(0.1);
      }),
      RUNS,
    );
  });

  test('differs from the one before it', () => {
    fc.assert(
      fc.property(someSeed, someCountry, (seed, region) => {
        const random = seededRandom(seed);
        const first = identityFor(seed, { region, random });
        const second = identityFor(seed, { region, random, unlike: first });
        expect(second).not.toEqual(first);
        // Even where chance has nothing else to offer.
        const stuck = identityFor(seed, { region, random: () => 0.3 });
        expect(identityFor(seed, { region, random: () => 0.3, unlike: stuck })).not.toEqual(stuck);
      }),
      { numRuns: 15 },
    );
  });

  test('is the same for the same session, also as JSON', () => {
    fc.assert(
      fc.property(someSeed, someCountry, (seed, region) => {
        const identity = identityFor(seed, { region });
        expect(identityFor(seed, { region })).toEqual(identity);
        const text = JSON.stringify(identity);
        expect(JSON.parse(text)).toEqual(identity);
        expect(text.length).toBeLessThan(4_096);
      }),
      { numRuns: 15 },
    );
  });

  test('tells the same in headers, client hints, platform and graphics', () => {
    const platforms = { Win32: 'Windows', MacIntel: 'macOS', 'Linux x86_64': 'Linux' };
    const graphics = { Windows: /Direct3D11/, macOS: /Metal/, Linux: /OpenGL/ };
    fc.assert(
      fc.property(someSeed, (seed) => {
        const { headers, clientHints, platform, userAgent, acceptLanguage, videoCard } = identityFor(seed);
        const sent = Object.fromEntries(headers);
        const named = platforms[platform as keyof typeof platforms];
        expect(clientHints.platform).toBe(named);
        expect(sent['sec-ch-ua-platform']).toBe(`"${named}"`);
        expect(sent['user-agent']).toBe(userAgent);
        expect(sent['accept-language']).toBe(acceptLanguage);
        expect(videoCard.renderer).toMatch(graphics[named as keyof typeof graphics]);
        expect(sent['sec-ch-ua']).toBe(
          clientHints.brands.map(({ brand, version }) => `"${brand}";v="${version}"`).join(', '),
        );
        expect(clientHints.fullVersionList.map(({ brand }) => brand)).toEqual(
          clientHints.brands.map(({ brand }) => brand),
        );
        expect(new Set(headers.map(([name]) => name)).size).toBe(headers.length);
        const order = headers.map(([name]) => name);
        expect(order.indexOf('sec-ch-ua')).toBeLessThan(order.indexOf('user-agent'));
        expect(order.indexOf('user-agent')).toBeLessThan(order.indexOf('accept'));
        expect(order.indexOf('accept-encoding')).toBeLessThan(order.indexOf('accept-language'));
      }),
      RUNS,
    );
  });

  test('is refused for a country or a version that is none', () => {
    expect(() => identityFor('x', { region: 'zz' })).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_OPTION' }),
    );
    expect(() => identityFor('x', { region: 'constructor' })).toThrow(/country/);
    expect(() => identityFor('x', { browserVersion: '156' })).toThrow(/version/);
    expect(identityFor('x', { region: null }).region).toBe('us');
  });

  test('is drawn without touching the chances of others', () => {
    const { random } = Math;
    drawHardware('windows', seededRandom('x'));
    expect(Math.random).toBe(random);
    const failing = () => {
      throw new Error('no chance');
    };
    expect(() => drawHardware('linux', failing)).toThrow('no chance');
    expect(Math.random).toBe(random);
  });
});

describe('the table of regions', () => {
  test('has time zones and languages that exist, for every country in it', () => {
    expect(COUNTRIES.length).toBeGreaterThanOrEqual(40);
    for (const [code, { places, languages }] of Object.entries(REGIONS)) {
      expect(code).toMatch(/^[a-z]{2}$/);
      expect(places.length).toBeGreaterThan(0);
      for (const { timeZone } of places) {
        expect(() => new Intl.DateTimeFormat('en', { timeZone }), timeZone).not.toThrow();
      }
      expect(Intl.getCanonicalLocales(languages)).toEqual(languages);
      expect(
        languages.some((language) => language.toLowerCase().endsWith(`-${code}`)),
        code,
      ).toBe(true);
    }
  });
});

test.each([
  ['120.0.6099.71', '"Not_A Brand" 8, "Chromium" 120, "Google Chrome" 120'],
  ['131.0.6778.86', '"Google Chrome" 131, "Chromium" 131, "Not_A Brand" 24'],
  ['147.0.7727.101', '"Google Chrome" 147, "Not.A/Brand" 8, "Chromium" 147'],
])('the brands of Chrome %s are the real ones', (version, expected) => {
  const { brands } = brandsOf(version);
  expect(brands.map(({ brand, version: of }) => `"${brand}" ${of}`).join(', ')).toBe(expected);
});
