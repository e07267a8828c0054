import { expect, it } from 'vitest';
import { textOfBody } from './read-page.ts';

const finalUrl = 'https://a.test/';
const html = 'text/html';

it('the text of a stored page is its visible text, without markup, scripts and repeated white space', () => {
  const body = Buffer.from('<title>T</title><script>var x;</script><p>Roof  &amp;\n panels</p><p>Größe');
  expect(textOfBody(body, { contentType: html, charset: 'utf-8', finalUrl })).toBe('Roof & panels Größe');
});

it('a stored page is decoded by the charset that was found when it was fetched', () => {
  const body = Buffer.from('<p>Größe', 'latin1');
  expect(textOfBody(body, { contentType: html, charset: 'windows-1252', finalUrl })).toBe('Größe');
});

it('a picture has no text', () => {
  const body = Buffer.from('<p>no page');
  expect(textOfBody(body, { contentType: 'image/png', charset: null, finalUrl })).toBe('');
});
