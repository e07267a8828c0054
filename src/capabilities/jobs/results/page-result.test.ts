import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { decodeText } from '../../../extract/charset/charset.ts';
import { rawTextOf } from './page-result.ts';

describe('rawHtml', () => {
  it.each(['cp437', 'koi8-t', 'utf-32le', 'macroman', 'windows-1251', 'utf-8'])(
    'of a page in %s is decoded as the page was',
    (label) => {
      const body = new Uint8Array(iconv.encode('<p>\u00e9\u0431</p>', label));
      const contentType = `text/html; charset=${label}`;
      const { text, charset } = decodeText(body, contentType);
      expect(rawTextOf({ contentType, charset }, body)).toBe(text);
    },
  );

  it('of a body that is no text is null', () => {
    expect(rawTextOf({ contentType: 'image/png', charset: null }, new Uint8Array([1, 2, 3]))).toBeNull();
  });
});
