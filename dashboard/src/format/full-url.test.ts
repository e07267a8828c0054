import { expect, it } from 'vitest';
import { fullUrl, isPageUrl } from './full-url.ts';

it.each([
  ['example.com', 'https://example.com'],
  [' example.com/a?b ', 'https://example.com/a?b'],
  ['example.com:8443/a', 'https://example.com:8443/a'],
  ['127.0.0.1:4555', 'http://127.0.0.1:4555'],
  ['10.0.0.7/shop', 'http://10.0.0.7/shop'],
  ['[::1]:3000/', 'http://[::1]:3000/'],
  ['localhost:3000', 'http://localhost:3000'],
  ['localhost', 'http://localhost'],
  ['http://example.com', 'http://example.com'],
])('%j is the page %s', (typed, url) => {
  expect(fullUrl(typed)).toBe(url);
  expect(isPageUrl(typed)).toBe(true);
});

it.each([
  '',
  'example',
  '12',
  'ftp://example.com',
  'javascript:alert(1)',
  'mailto:a@b.example',
  'two words',
  'a b.c',
])('%j is no page', (typed) => {
  expect(isPageUrl(typed)).toBe(false);
});
