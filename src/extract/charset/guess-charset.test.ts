import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { decodeText } from './charset.ts';
import { SAMPLES } from './charset-samples.fixture.ts';
import { guessCharset } from './guess-charset.ts';

const NAMES: Readonly<Record<string, string>> = { ibm866: 'cp866' };
const bytes = (text: string, charset: string) =>
  new Uint8Array(iconv.encode(text, NAMES[charset] ?? charset));
const pageOf = (text: string) =>
  `<!doctype html><html><head><title>${text.slice(0, 20)}</title><style>p { margin: 0 }</style></head>` +
  `<body><nav><a href="/">Home</a></nav><p>${text}</p><script>var a = 1;</script></body></html>`;

describe('pages that declare no charset', () => {
  const cases = SAMPLES.flatMap(([language, charsets, text]) =>
    charsets.map((charset) => ({ language, charset, text })),
  );

  test.each(cases)('$language in $charset is read as it was written', ({ charset, text }) => {
    const page = pageOf(text);
    expect(decodeText(bytes(page, charset), 'text/html').text).toBe(page);
    expect(decodeText(bytes(text, charset), 'text/plain').text).toBe(text);
  });

  test.each(cases)('a line of $language in $charset is enough', ({ charset, text }) => {
    const line = text.slice(0, 80);
    expect(decodeText(bytes(line, charset), null).text).toBe(line);
  });

  test('Japanese with escape sequences is read, which is valid as UTF-8', () => {
    const body = new TextEncoder().encode('<p>\x1b$B$3$s$K$A$O\x1b(B</p>');
    expect(decodeText(body, 'text/html')).toEqual({ text: '<p>こんにちは</p>', charset: 'iso-2022-jp' });
  });
});

test('UTF-8 that was cut within a character, or has a stray byte, is UTF-8', () => {
  const text = 'Все люди рождаются свободными и равными';
  const whole = new TextEncoder().encode(text);
  expect(decodeText(whole.subarray(0, -1), 'text/html').charset).toBe('utf-8');
  expect(decodeText(new Uint8Array([...whole, 0xff]), 'text/html').charset).toBe('utf-8');
});

test('a declaration is believed, whatever the characters say', () => {
  const body = bytes('Все люди рождаются свободными', 'windows-1251');
  expect(decodeText(body, 'text/html; charset=windows-1252').charset).toBe('windows-1252');
});

test('only the beginning of a long body is searched', () => {
  const ascii = new Uint8Array(2_097_152).fill(0x61);
  const russian = bytes('Все люди рождаются свободными и равными', 'windows-1251');
  expect(guessCharset(Buffer.concat([ascii.subarray(64), russian]))).toBe('windows-1251');
  expect(guessCharset(Buffer.concat([ascii, russian]))).toBe('windows-1252');
});
