import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import { requestFor } from './browser/browser.fixture.ts';
import type { Engine, FetchResponse } from './engine.ts';
import { holdsSecret, withholdSecrets } from './wrapped-engines.ts';

const SECRET = `p<a>ss "w&o'rd" é+/x`;
const encode = (text: string) => new Uint8Array(Buffer.from(text));
const html = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const attribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** Every way in which a page may write it. */
const WAYS: Readonly<Record<string, string>> = {
  text: SECRET,
  html: html(SECRET),
  'the document of a frame': attribute(html(SECRET)),
  'a frame within frames': html(attribute(attribute(SECRET))),
  'a script of a frame': attribute(JSON.stringify(SECRET)),
  'a URL': encodeURIComponent(SECRET),
  'a form': new URLSearchParams({ p: SECRET }).toString(),
  json: JSON.stringify({ p: SECRET }),
  hex: Buffer.from(SECRET).toString('hex'),
  base64: Buffer.from(SECRET).toString('base64'),
  'base64 with neighbours': Buffer.from(`ann:${SECRET};`).toString('base64'),
  'base64 with other neighbours': Buffer.from(`an:${SECRET};;`).toString('base64'),
};

function answering(text: string): Engine {
  const response: FetchResponse = {
    url: 'https://a.example/',
    finalUrl: `https://a.example/?q=${encodeURIComponent(text)}`,
    statusCode: 200,
    headers: { link: text, 'set-cookie': [`sid=${text}`] },
    contentType: 'text/html',
    body: encode(`before ${text} after ${text}`),
    wireBytes: 1,
    redirects: [],
    redirectedTo: null,
    ms: 1,
    httpVersion: '1.1',
    rendered: {
      rawBody: encode(text),
      failure: new ScrapifieError('ACTION_FAILED', `failed: ${text}`),
      extra: {
        screenshot: null,
        pdf: null,
        xhr: [
          {
            url: `https://a.example/${text}`,
            method: 'GET',
            statusCode: 200,
            contentType: null,
            body: encode(text),
            isTooLarge: false,
          },
        ],
        consoleErrors: [text],
        actions: [],
        storage: { cookies: [], localStorage: { 'https://a.example': { kept: text } } },
      },
    },
  };
  return withholdSecrets({ name: 'http', fetch: async () => response, close: async () => undefined });
}

function shownOf({ finalUrl, headers, body, rendered }: FetchResponse): string {
  const { rawBody, failure, extra } = rendered ?? {};
  const bytes = [body, rawBody, ...(extra?.xhr ?? []).map((xhr) => xhr.body)];
  const texts = [
    finalUrl,
    headers.link,
    failure?.message,
    extra?.xhr[0]?.url,
    ...(extra?.consoleErrors ?? []),
  ];
  return [...bytes.map((each) => Buffer.from(each ?? []).toString()), ...texts].join('\n');
}

describe('a response', () => {
  it.each(Object.entries(WAYS))('does not show a secret in %s', async (_, text) => {
    const plain = shownOf(await answering(text).fetch(requestFor('https://a.example/')));
    expect(plain).toContain(text);
    const hidden = await answering(text).fetch(requestFor('https://a.example/', { secrets: [SECRET] }));
    expect(shownOf(hidden)).not.toContain(text);
    expect(shownOf(hidden)).toContain('before ');
    expect(shownOf(hidden)).toContain('[hidden]');
    expect(URL.canParse(hidden.finalUrl)).toBe(true);
  });

  it('keeps what the session keeps, on a body of its own', async () => {
    const response = await answering(SECRET).fetch(requestFor('https://a.example/', { secrets: [SECRET] }));
    expect(response.headers['set-cookie']).toEqual([`sid=${SECRET}`]);
    expect(response.rendered?.extra.storage?.localStorage['https://a.example']?.kept).toBe(SECRET);
    expect(response.body.buffer.byteLength).toBe(response.body.byteLength);
  });

  it('is free of any secret of four characters or more, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4, maxLength: 40, unit: 'grapheme' }), (secret) => {
        for (const text of [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret)]) {
          expect(holdsSecret(`see ${text}.`, [secret])).toBe(true);
        }
      }),
    );
    expect(holdsSecret('a cat', ['cat'])).toBe(false);
  });
});
