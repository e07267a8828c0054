import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, type Ending, hashOf, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { pageSchema, scrapeSchema } from '../capabilities/views/page-schemas.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { JobId } from '../core/model/ids.ts';
import type { ArtifactRef, PageRecord } from '../core/model/page.ts';

const bytes = (text: string) => Buffer.from(text);
const PNG = bytes('\x89PNG picture');
const PDF = bytes('%PDF document');
const SCRIPT = bytes('<script>alert(1)</script>');
const RAW = bytes('<p>as sent</p>');
const ref = (of: Uint8Array, contentType: string): ArtifactRef => ({
  contentHash: hashOf(of),
  contentType,
  bytes: of.byteLength,
});
const exchange = { url: 'https://site.example/api', method: 'GET', statusCode: 200, isTooLarge: false };
const RECORD: PageRecord = {
  rendered: {
    screenshot: ref(PNG, 'image/png'),
    pdf: ref(PDF, 'application/pdf'),
    xhr: [
      { ...exchange, contentType: 'application/json', text: '{"a":1}' },
      { ...exchange, contentType: 'text/html', body: ref(SCRIPT, 'text/html') },
      { ...exchange, contentType: 'bad\r\ntype', body: ref(SCRIPT, 'bad\r\ntype') },
    ],
    actions: [
      { type: 'evaluate', ms: 1, value: [1] },
      { type: 'screenshot', ms: 2, picture: ref(PNG, 'image/png') },
    ],
    raw: { contentHash: hashOf(RAW), charset: 'utf-8' },
  },
  metadata: null,
  links: [],
  html: '<p>as shown</p>',
};
const SHOWN: Ending = {
  ...DONE,
  body: '<p>as shown</p>',
  record: RECORD,
  artifacts: [PNG, PDF, SCRIPT, RAW],
};
const FAILURE = {
  code: 'ACTION_FAILED',
  message: 'actions.2 click #x: gone',
  step: 'actions.2 click #x',
} as const;
const BROKEN: Ending = {
  ...SHOWN,
  end: { state: 'failed', rule: 'attempt.ok', errorCode: 'ACTION_FAILED' },
  errorMessage: FAILURE.message,
  record: { ...RECORD, rendered: { ...RECORD.rendered, failure: FAILURE } },
};
const ALL = ['html', 'rawHtml', 'screenshot', 'pdf', 'xhr'];

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform(
    {},
    {
      refusalOf: ({ engine }) =>
        engine === 'browser' ? new ScrapifieError('NO_BROWSER', 'looked in /secret/place') : null,
    },
  );
  await platform.work(({ url }) => (url.includes('plain') ? DONE : url.includes('broken') ? BROKEN : SHOWN));
});
afterAll(() => platform.close());

const scrape = (path: string, given: object = {}, headers: Record<string, string> = {}) =>
  platform.call({
    method: 'POST',
    url: '/v1/scrape',
    payload: { url: `https://site.example/${path}`, formats: ALL, ...given },
    headers: { host: 'api.example:3000', ...headers },
  });
const fetchOf = (address: unknown) =>
  platform.api.inject({ url: new URL(String(address)).pathname, headers: key() });
const key = () => ({ 'x-api-key': platform.secret });

describe('a shown page', () => {
  it('comes with addresses under which the rest of it can be fetched', async () => {
    const answer = await scrape('shown');
    expect(answer.statusCode).toBe(200);
    expect(scrapeSchema.parse(answer.at('data'))).toEqual(answer.at('data'));
    const base = `http://api.example:3000/v1/jobs/${answer.at('data.id')}/pages/`;
    expect(answer.at('data')).toMatchObject({
      html: '<p>as shown</p>',
      rawHtml: '<p>as sent</p>',
      screenshot: { contentType: 'image/png', bytes: PNG.length },
      pdf: { contentType: 'application/pdf', bytes: PDF.length },
      xhr: [{ text: '{"a":1}' }, { body: { contentType: 'text/html' } }, {}],
      actions: [{ type: 'evaluate', value: [1] }, { type: 'screenshot' }],
      consoleErrors: [],
    });
    expect(answer.payload).not.toContain('base64');
    for (const [path, name, content] of [
      ['screenshot', 'screenshot', PNG],
      ['pdf', 'pdf', PDF],
      ['actions.1.screenshot', 'action-1', PNG],
      ['xhr.1.body', 'xhr-1', SCRIPT],
    ] as const) {
      const address = answer.at(`data.${path}.url`) as string;
      expect(address.startsWith(base) && address.endsWith(`/artifacts/${name}`)).toBe(true);
      const fetched = await fetchOf(address);
      expect(fetched.statusCode).toBe(200);
      expect(fetched.rawPayload.equals(content)).toBe(true);
      expect(fetched.headers['x-content-type-options']).toBe('nosniff');
      expect(fetched.headers['content-security-policy']).toContain("default-src 'none'");
      expect(fetched.headers['cache-control']).toBe('private, no-cache');
    }
  });

  it('has its bytes in the answer on request', async () => {
    const answer = await scrape('shown', { inline: true });
    expect(answer.at('data.screenshot.base64')).toBe(PNG.toString('base64'));
    expect(answer.at('data.pdf.base64')).toBe(PDF.toString('base64'));
    expect(answer.at('data.actions.1.screenshot.base64')).toBe(PNG.toString('base64'));
    expect(answer.at('data.xhr.1.body.base64')).toBe(SCRIPT.toString('base64'));
  });

  it('is the same in the results of a job, listed or streamed', async () => {
    const payload = { urls: ['https://site.example/a', 'https://site.example/b'], options: { formats: ALL } };
    const { at } = await platform.call({ method: 'POST', url: '/v1/batch', payload });
    const id = at('data.id') as JobId;
    await platform.jobs.waitFor(id, 60_000);
    const url = `/v1/jobs/${id}/results`;
    const headers = {
      host: 'ignored.example',
      'x-forwarded-host': 'api.example',
      'x-forwarded-proto': 'https',
    };
    const items = (await platform.call({ url, headers })).at('data.items') as Record<string, unknown>[];
    const lines = await platform.call({ url, headers: { ...headers, accept: 'application/x-ndjson' } });
    expect(
      lines.payload
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(items);
    expect(items).toHaveLength(2);
    for (const item of items) {
      expect(pageSchema.parse(item)).toEqual(item);
      const { url: address } = item.screenshot as { url: string };
      expect(address).toMatch(
        new RegExp(`^https://api\\.example/v1/jobs/${id}/pages/\\d+/artifacts/screenshot$`),
      );
      expect((await fetchOf(address)).rawPayload.equals(PNG)).toBe(true);
    }
  });

  it('is told by a path when nobody says where this server is', async () => {
    const answer = await scrape('shown', {}, { 'x-forwarded-host': 'evil.example/"><script>' });
    expect(answer.at('data.screenshot.url')).toMatch(/^\/v1\/jobs\//);
  });

  it('that was read without a browser has none of it', async () => {
    const answer = await scrape('plain');
    expect(answer.at('data')).toMatchObject({ screenshot: null, pdf: null, xhr: null });
    expect(answer.at('data')).not.toHaveProperty('consoleErrors');
    expect(answer.at('data')).not.toHaveProperty('actions');
  });
});

describe('a page on which a step failed', () => {
  it('is answered with what there is, and the step', async () => {
    const answer = await scrape('broken');
    expect(answer.statusCode).toBe(200);
    expect(scrapeSchema.parse(answer.at('data'))).toEqual(answer.at('data'));
    expect(answer.at('data')).toMatchObject({
      html: '<p>as shown</p>',
      error: { code: 'ACTION_FAILED', message: FAILURE.message, details: { step: FAILURE.step } },
    });
    expect((await fetchOf(answer.at('data.screenshot.url'))).rawPayload.equals(PNG)).toBe(true);
    const listed = await platform.call({ url: `/v1/jobs/${answer.at('data.id')}/results?state=failed` });
    expect(listed.at('data.items.0.error.details.step')).toBe(FAILURE.step);
  });
});

describe('an artifact', () => {
  it('of another site’s server is saved and never shown, whatever it calls itself', async () => {
    const { at } = await scrape('shown');
    const html = await fetchOf(at('data.xhr.1.body.url'));
    expect(html.headers['content-disposition']).toBe('attachment; filename="xhr-1.html"');
    expect(html.headers['content-type']).toBe('application/octet-stream');
    expect(html.headers['x-content-type-options']).toBe('nosniff');
    const odd = await fetchOf(at('data.xhr.2.body.url'));
    expect(odd.headers['content-type']).toBe('application/octet-stream');
    expect(odd.headers['content-disposition']).toBe('attachment; filename="xhr-2.bin"');
    const picture = await fetchOf(at('data.screenshot.url'));
    expect(picture.headers['content-type']).toBe('image/png');
    expect(picture.headers['content-disposition']).toBe('inline; filename="screenshot.png"');
  });

  it('is not sent again to who has it', async () => {
    const url = new URL(String((await scrape('shown')).at('data.pdf.url'))).pathname;
    const etag = String((await fetchOf(`http://x${url}`)).headers.etag);
    const again = await platform.api.inject({
      url,
      headers: { ...key(), 'if-none-match': `"other", W/${etag}` },
    });
    expect([again.statusCode, again.payload]).toEqual([304, '']);
    const other = await platform.api.inject({ url, headers: { ...key(), 'if-none-match': '"other"' } });
    expect(other.statusCode).toBe(200);
    const head = await platform.api.inject({ method: 'HEAD', url, headers: key() });
    expect([head.statusCode, head.headers['content-length']]).toEqual([200, String(PDF.length)]);
  });

  it('that is not there is a 404 that says so', async () => {
    const path = new URL(String((await scrape('shown')).at('data.pdf.url'))).pathname;
    const [, , , id, , page] = path.split('/');
    for (const wrong of [
      `/v1/jobs/${id}/pages/${page}/artifacts/action-0`,
      `/v1/jobs/${id}/pages/${page}/artifacts/__proto__`,
      `/v1/jobs/${id}/pages/${page}/artifacts/xhr-0`,
      `/v1/jobs/${id}/pages/999999/artifacts/pdf`,
      `/v1/jobs/${id}/pages/1e3/artifacts/pdf`,
      `/v1/jobs/${id}/pages/-1/artifacts/pdf`,
      `/v1/jobs/nonsense/pages/${page}/artifacts/pdf`,
    ]) {
      const answer = await platform.call({ url: wrong });
      expect([wrong, answer.statusCode, answer.at('error.code')]).toEqual([wrong, 404, 'NOT_FOUND']);
    }
  });

  it('is for nobody without a key', async () => {
    const url = new URL(String((await scrape('shown')).at('data.pdf.url'))).pathname;
    expect((await platform.api.inject({ url })).statusCode).toBe(401);
  });
});

describe('what was asked for', () => {
  it('is refused at once when this installation cannot do it', async () => {
    const answer = await scrape('shown', { engine: 'browser' });
    expect([answer.statusCode, answer.at('error.code')]).toEqual([503, 'NO_BROWSER']);
    expect(answer.payload).not.toContain('/secret/place');
    const batch = { urls: ['https://site.example/'], options: { engine: 'browser' } };
    expect((await platform.call({ method: 'POST', url: '/v1/batch', payload: batch })).statusCode).toBe(503);
  });

  it('is shown with the job, but for what may be a login', async () => {
    const answer = await scrape('shown', {
      proxy: { url: 'http://me:very-secret@proxy.example:8080' },
      session: 'shop.1',
      wait: { selector: '#list' },
      actions: [
        { type: 'type', selector: '#password', text: 'very-secret' },
        { type: 'evaluate', script: 'login("very-secret")' },
      ],
    });
    expect(answer.payload).not.toContain('very-secret');
    const job = await platform.call({ url: `/v1/jobs/${answer.at('data.id')}` });
    expect(job.payload).not.toContain('very-secret');
    expect(job.at('data.options.page')).toMatchObject({
      session: 'shop.1',
      proxy: { tier: null, country: null, url: '[hidden]' },
      render: {
        wait: { selector: '#list' },
        actions: [{ selector: '#password', text: '[hidden]' }, { script: '[hidden]' }],
      },
    });
    expect(platform.lines.join('')).not.toContain('very-secret');
  });
});
