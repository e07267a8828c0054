import { expect, test } from 'vitest';
import { chromeVersionOf, nearestProfile, profileFor } from './handshake-clients.ts';
import { IDENTITY } from './impersonate.fixture.ts';

const names = ['chrome_100', 'chrome_131', 'chrome_149', 'firefox_150', 'chrome'] as const;

test.each([
  [90, 'chrome_100'],
  [115, 'chrome_100'],
  [116, 'chrome_131'],
  [140, 'chrome_131'],
  [141, 'chrome_149'],
  [149, 'chrome_149'],
  [156, 'chrome_149'],
])('for Chrome %i it is %s', (version, name) => {
  expect(nearestProfile(names, version)).toBe(name);
});

test('there is none among names without versions', () => {
  expect(nearestProfile(['chrome', 'firefox_150'], 156)).toBeNull();
});

test('the version is what the identity says', () => {
  expect(chromeVersionOf(IDENTITY)).toBe(156);
});

test('Firefox and Safari have profiles of their own', () => {
  const known = [
    ...names,
    'safari_18.5',
    'safari_26',
    'safari_26.2',
    'safari_ios_26.2',
    'firefox_149',
  ] as const;
  const as = (family: 'firefox' | 'safari', userAgent: string) =>
    profileFor(known, { ...IDENTITY, family, userAgent });
  expect(as('firefox', 'Mozilla/5.0 (X11; rv:150.0) Gecko/20100101 Firefox/150.0')).toBe('firefox_150');
  expect(as('safari', 'Mozilla/5.0 (Macintosh) Version/26.2 Safari/605.1.15')).toBe('safari_26.2');
  expect(profileFor(known, IDENTITY)).toBe('chrome_149');
});
