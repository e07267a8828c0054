import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { decodeAs, decodeText } from './charset.ts';

const bytes = (text: string, encoding = 'utf-8') => new Uint8Array(iconv.encode(text, encoding));
const html = (head: string, body: string, encoding: string) =>
  bytes(`<!doctype html><html><head>${head}</head><body>${body}</body></html>`, encoding);

describe('what decides, in order', () => {
  test('a byte order mark wins over the header and is not part of the text', () => {
    const body = new Uint8Array([0xef, 0xbb, 0xbf, ...bytes('Grüße')]);
    expect(decodeText(body, 'text/html; charset=iso-8859-1')).toEqual({ text: 'Grüße', charset: 'utf-8' });
    const wide = new Uint8Array([0xff, 0xfe, ...Buffer.from('Grüße', 'utf16le')]);
    expect(decodeText(wide, 'text/html; charset=utf-8')).toEqual({ text: 'Grüße', charset: 'utf-16le' });
    const big = new Uint8Array([0xfe, 0xff, 0x00, 0x41]);
    expect(decodeText(big, null)).toEqual({ text: 'A', charset: 'utf-16be' });
  });

  test('the header wins over the document', () => {
    const body = html('<meta charset="utf-8">', 'Привет', 'windows-1251');
    const decoded = decodeText(body, 'text/html;charset="windows-1251"');
    expect(decoded.charset).toBe('windows-1251');
    expect(decoded.text).toContain('Привет');
  });

  test.each([
    ['<meta charset="shift_jis">', '日本語', 'shift_jis'],
    ['<META CHARSET=euc-kr>', '한국어', 'euc-kr'],
    ["<meta charset='gb2312' />", '中文', 'gbk'],
    ['<meta http-equiv="Content-Type" content="text/html; charset=big5">', '繁體', 'big5'],
    ['<meta content="text/html; charset=koi8-r" http-equiv="content-type">', 'Привет', 'koi8-r'],
    ['<!-- <meta charset="utf-8"> --><meta charset="windows-1251">', 'Привет', 'windows-1251'],
    ['<link title="<meta charset=utf-8>"><meta charset="iso-8859-2">', 'żółć', 'iso-8859-2'],
  ])('a document that says %s is believed', (head, text, charset) => {
    const decoded = decodeText(html(head, text, charset), 'text/html');
    expect(decoded.charset).toBe(charset);
    expect(decoded.text).toContain(text);
  });

  test('an XML declaration counts', () => {
    const body = bytes('<?xml version="1.0" encoding="ISO-8859-15"?><a>€</a>', 'iso-8859-15');
    expect(decodeText(body, 'application/xml').text).toContain('<a>€</a>');
  });

  test('what has no declaration is UTF-8 when valid, else what its characters say', () => {
    expect(decodeText(bytes('Grüße'), 'text/html')).toEqual({ text: 'Grüße', charset: 'utf-8' });
    expect(decodeText(bytes('“Grüße”', 'windows-1252'), null)).toEqual({
      text: '“Grüße”',
      charset: 'windows-1252',
    });
  });
});

describe('declarations that are not to be believed', () => {
  test('an unknown label is passed over', () => {
    expect(
      decodeText(html('<meta charset="utf-8">', 'ü', 'utf-8'), 'text/html; charset=klingon').charset,
    ).toBe('utf-8');
    expect(decodeText(bytes('ü'), 'text/html; charset=utf-7').charset).toBe('utf-8');
    expect(decodeText(bytes('aGFsbG8='), 'text/plain; charset=base64').text).toBe('aGFsbG8=');
  });

  test('UTF-16 in a document that is readable as ASCII means UTF-8', () => {
    expect(decodeText(html('<meta charset="utf-16">', 'ü', 'utf-8'), 'text/html').charset).toBe('utf-8');
  });

  test('a declaration beyond 1,024 bytes is too late', () => {
    const body = html(`${' '.repeat(1_100)}<meta charset="windows-1251">`, 'ascii', 'utf-8');
    expect(decodeText(body, 'text/html').charset).toBe('utf-8');
  });

  test('markup in plain text or JSON is content', () => {
    const body = bytes('{"a":"<meta charset=koi8-r> ü"}');
    expect(decodeText(body, 'application/json').charset).toBe('utf-8');
    expect(decodeText(body, 'text/plain').charset).toBe('utf-8');
    expect(decodeText(body, 'application/ld+json').charset).toBe('utf-8');
  });
});

test('old code pages that the web standard lacks are read too', () => {
  expect(decodeText(bytes('Grüße', 'cp850'), 'text/plain; charset=CP850')).toEqual({
    text: 'Grüße',
    charset: 'cp850',
  });
});

test('latin1 means windows-1252, as it does in browsers', () => {
  expect(decodeText(new Uint8Array([0x80]), 'text/html; charset=iso-8859-1')).toEqual({
    text: '€',
    charset: 'windows-1252',
  });
});

test('any bytes under any content type become text', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 2_000 }),
      fc.option(
        fc.oneof(
          fc.string(),
          fc.string().map((label) => `text/html; charset=${label}`),
        ),
      ),
      (body, contentType) => {
        expect(typeof decodeText(body, contentType).text).toBe('string');
      },
    ),
  );
});

test('UTF-8 text survives, whatever it holds', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 0xd7ff })), (points) => {
      const plain = String.fromCodePoint(...points);
      expect(decodeText(bytes(plain), 'text/html; charset=utf-8').text).toBe(plain);
    }),
  );
});

test('a long head without any end costs no more than its length', () => {
  for (const piece of ['<', '<meta ', '<a b', '<a =', '<!--', '<meta a="']) {
    const body = bytes(piece.repeat(400));
    expect(decodeText(body, 'text/html').charset).toBe('utf-8');
  }
});

test('knows UTF-16 without a byte order mark by its zeros, whatever the header says', () => {
  const text = '<html><title>Grüße</title>';
  const little = Buffer.from(text, 'utf16le');
  expect(decodeText(little, 'text/html; charset=utf-8')).toEqual({ text, charset: 'utf-16le' });
  expect(decodeText(Buffer.from(little).swap16(), null)).toEqual({ text, charset: 'utf-16be' });
});

describe('decoding a body again with the charset it had', () => {
  test.each(['utf-8', 'windows-1252', 'shift_jis', 'cp437', 'koi8-t', 'utf-32le', 'macroman'])(
    'gives the same text: %s',
    (charset) => {
      const body = bytes('<p>caf\u00e9 \u30c6 \u0431</p>', charset);
      const first = decodeText(body, `text/html; charset=${charset}`);
      expect(decodeAs(body, first.charset)).toBe(first.text);
    },
  );

  test('takes a label that is unknown or missing for UTF-8', () => {
    expect(decodeAs(bytes('Gr\u00fc\u00dfe'), 'no-such-charset')).toBe('Gr\u00fc\u00dfe');
    expect(decodeAs(bytes('Gr\u00fc\u00dfe'), null)).toBe('Gr\u00fc\u00dfe');
  });
});
