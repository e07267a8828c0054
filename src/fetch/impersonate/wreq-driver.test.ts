import { expect, test } from 'vitest';
import { IDENTITY } from './impersonate.fixture.ts';
import { chromeVersionOf, nearestProfile } from './wreq-driver.ts';

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
