import { describe, expect, it } from 'vitest';
import { isHtmlType, mediaTypeOf } from './media-type.ts';

describe('the media type of a Content-Type header', () => {
  it.each([
    ['text/html', 'text/html'],
    [' Text/HTML ; charset=utf-8', 'text/html'],
    ['text/html charset=utf-8', 'text/html'],
    ['text/html, text/html', 'text/html'],
    ['application/ld+json;profile="x"', 'application/ld+json'],
    ['', ''],
    [null, ''],
  ])('of %o is %o', (header, type) => {
    expect(mediaTypeOf(header)).toBe(type);
  });

  it.each([
    ['text/html; charset=utf-8', true],
    ['application/xhtml+xml', true],
    ['text/html charset=utf-8', true],
    ['text/htmlx', false],
    ['text/plain', false],
    ['application/xml', false],
    ['', false],
    [null, false],
  ])('%o declares an HTML document: %o', (header, isHtml) => {
    expect(isHtmlType(header)).toBe(isHtml);
  });
});
