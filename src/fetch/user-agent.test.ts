import { expect, test } from 'vitest';
import { PRODUCT_TOKEN, siteOwnerContact, userAgentFor } from './user-agent.ts';

test('the user agent names the product, its version and the contact', () => {
  expect(userAgentFor('0.1.0', 'https://example.org/bot')).toBe(
    'ScrapifieBot/0.1.0 (+https://example.org/bot)',
  );
  expect(userAgentFor('0.1.0', 'me@example.org')).toBe(`${PRODUCT_TOKEN}/0.1.0 (+me@example.org)`);
});

test('without a contact there is no comment', () => {
  expect(userAgentFor('0.1.0', null)).toBe('ScrapifieBot/0.1.0');
  expect(userAgentFor('0.1.0', ' \r\n')).toBe('ScrapifieBot/0.1.0');
});

test('a contact cannot break out of its comment or of the header', () => {
  expect(userAgentFor('1', 'a)\r\nx-evil: 1 (')).toBe('ScrapifieBot/1 (+ax-evil:1)');
});

test('the page for site owners comes before the contact', () => {
  const publicUrl = 'https://crawl.example.org/';
  const both = siteOwnerContact({ publicUrl, contact: 'me@example.org' });
  expect(userAgentFor('1', both)).toBe('ScrapifieBot/1 (+https://crawl.example.org/bot;me@example.org)');
  expect(siteOwnerContact({ publicUrl })).toBe('https://crawl.example.org/bot');
  expect(siteOwnerContact({})).toBeNull();
});
