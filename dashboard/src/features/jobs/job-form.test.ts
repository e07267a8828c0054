import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { bodyOf, EMPTY_FORM, jobFormSchema } from './job-form.ts';
import { cloneOf } from './job-request.ts';

const urls = 'https://example.com/\n https://example.org/a \n';

describe('the request of the form for a new job', () => {
  it('has nothing that the server takes anyway', () => {
    expect(bodyOf({ ...EMPTY_FORM, urls, maxPages: '10000' })).toEqual({
      urls: ['https://example.com/', 'https://example.org/a'],
    });
  });

  it('starts a crawl of sitemaps from sitemaps, and a batch without the scope of a crawl', () => {
    const sitemap = bodyOf({ ...EMPTY_FORM, kind: 'sitemap', urls: 'https://example.com/sitemap.xml' });
    expect(sitemap).toMatchObject({ sitemapUrls: ['https://example.com/sitemap.xml'], sitemap: 'only' });
    const batch = bodyOf({ ...EMPTY_FORM, kind: 'batch', urls, include: '/a/*', maxMinutes: '1.5' });
    expect(batch).toEqual({ urls: ['https://example.com/', 'https://example.org/a'], maxDurationMs: 90_000 });
  });

  it('takes lines without a scheme, and of a batch those that are no URL where these are to be left out', () => {
    const typed = { ...EMPTY_FORM, urls: '127.0.0.1:4555\nexample.com' };
    expect(bodyOf(typed).urls).toEqual(['http://127.0.0.1:4555', 'https://example.com']);
    const isTaken = (form: object) => z.safeParse(jobFormSchema, { ...typed, ...form }).success;
    expect(isTaken({})).toBe(true);
    const mixed = { kind: 'batch', urls: 'https://example.com/\nno URL' };
    expect(isTaken(mixed)).toBe(false);
    expect(isTaken({ ...mixed, ignoreInvalidUrls: true })).toBe(true);
  });

  it('puts more options into those of the form', () => {
    const more = '{"options": {"session": "shop"}, "routes": []}';
    expect(bodyOf({ ...EMPTY_FORM, urls, engine: 'browser', more })).toMatchObject({
      routes: [],
      options: { engine: 'browser', session: 'shop' },
    });
  });
});

describe('the form of a cloned job', () => {
  const options = {
    page: {
      engine: 'auto',
      formats: ['markdown'],
      headers: { accept: 'text/html' },
      cookies: { sid: '[hidden]' },
      timeoutMs: 5_000,
      maxAttempts: 3,
      maxBodyBytes: 10_485_760,
      render: { wait: { selector: '#list' }, device: { isMobile: true } },
      proxy: { tier: 'datacenter', country: null, url: null },
      extract: { type: 'product', rules: null },
    },
    scope: { maxDepth: 2, include: ['/shop/*'], exclude: [], sitemap: 'skip', avoidQueryTraps: true },
    budgets: { maxPages: 50, maxBytes: 2_000_000, maxDurationMs: null },
    snapshots: true,
    exports: [{ type: 'full', format: 'csv' }],
  };
  const { form, missing } = cloneOf({ kind: 'crawl', seeds: ['https://example.com/'], options });

  it('asks for the same again', () => {
    expect(bodyOf(form)).toEqual({
      urls: ['https://example.com/'],
      maxPages: 50,
      maxDepth: 2,
      include: ['/shop/*'],
      sitemap: 'skip',
      maxBytes: 2_000_000,
      snapshots: true,
      exports: [{ type: 'full', format: 'csv' }],
      options: {
        formats: ['markdown'],
        timeoutMs: 5_000,
        extract: { type: 'product' },
        wait: { selector: '#list' },
        mobile: true,
        headers: { accept: 'text/html' },
        proxy: { tier: 'datacenter' },
      },
    });
  });

  it('has options of pages that are empty, or that jobs keep apart', () => {
    const page = { ...options.page, render: { scroll: {} }, maxProxyTier: 'residential', proxy: null };
    const seeds = ['https://example.com/'];
    const { form: again } = cloneOf({ kind: 'batch', seeds, options: { ...options, page } });
    expect(bodyOf(again).options).toMatchObject({ scroll: {}, proxy: { maxTier: 'residential' } });
  });

  it('names the secrets that must be given again', () => {
    expect(missing).toEqual(['cookies']);
  });
});
