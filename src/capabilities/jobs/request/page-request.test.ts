import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { parseRequest } from './invalid-request.ts';
import {
  batchRequestSchema,
  crawlRequestSchema,
  mapRequestSchema,
  scrapeRequestSchema,
} from './job-request.ts';
import { pageOptionsOf } from './page-request.ts';

const url = 'https://example.com/';
const optionsOf = (given: object) => pageOptionsOf(parseRequest(scrapeRequestSchema, { url, ...given }));

function problemsWith(given: object): Record<string, string> {
  try {
    parseRequest(scrapeRequestSchema, { url, ...given });
  } catch (error) {
    const { code, details } = error as ScrapifieError;
    expect(code).toBe('VALIDATION_FAILED');
    return Object.fromEntries(
      (details as { field: string; message: string }[]).map(({ field, message }) => [field, message]),
    );
  }
  return {};
}
const fieldsOf = (given: object) => Object.keys(problemsWith(given)).sort();

describe('what is asked of a page', () => {
  it('is nothing for a browser unless somebody says so', () => {
    expect(optionsOf({})).toMatchObject({
      render: null,
      session: null,
      proxy: null,
      identity: null,
      extract: null,
      isInline: false,
    });
    expect(optionsOf({ wait: null, scroll: false, actions: [], screenshot: null }).render).toBeNull();
  });

  it('names the headers that may go to other origins, and they must be among the headers', () => {
    expect(optionsOf({ headers: { 'X-Api-Key': 'k' } })).not.toHaveProperty('crossOriginHeaders');
    const given = { headers: { 'X-Trace': '1' }, crossOriginHeaders: ['x-TRACE'] };
    expect(optionsOf(given).crossOriginHeaders).toEqual(['x-trace']);
    expect(fieldsOf({ ...given, crossOriginHeaders: ['X-Trace', 'X-Api-Key'] })).toEqual([
      'crossOriginHeaders.1',
    ]);
  });

  it('is a screen and a place only where one was named', () => {
    expect(optionsOf({ viewport: null, mobile: false, locale: null }).render).toBeNull();
    const given = {
      viewport: { width: 800, height: 600 },
      mobile: true,
      geolocation: { latitude: 52.5, longitude: 13.4 },
      locale: 'de-de',
      timezone: 'Europe/Berlin',
    };
    expect(optionsOf(given).render).toEqual({
      device: {
        viewport: { width: 800, height: 600 },
        isMobile: true,
        geolocation: { latitude: 52.5, longitude: 13.4 },
        locale: 'de-DE',
        timezone: 'Europe/Berlin',
      },
    });
    const names = Object.keys(given).sort();
    expect(fieldsOf({ ...given, engine: 'http' })).toEqual(names);
    expect(fieldsOf({ ...given, identity: 'browser' })).toEqual(names);
    expect(fieldsOf({ ...given, engine: 'stealth' })).toEqual(names);
  });

  it('has files of two megabytes together at most, with names that are no paths', () => {
    const upload = (...files: object[]) => ({ actions: [{ type: 'upload', selector: 'input', files }] });
    const megabyte = Buffer.alloc(1_048_576).toString('base64');
    const file = { name: 'a.bin', base64: megabyte };
    expect(fieldsOf(upload(file, file))).toEqual([]);
    expect(fieldsOf(upload(file, file, { name: 'b', base64: 'AA==' }))).toEqual(['actions.0.files.2.base64']);
    expect(fieldsOf(upload({ name: '../a', base64: '' }))).toEqual(['actions.0.files.0.name']);
    expect(fieldsOf(upload({ name: 'a', base64: '%' }))).toEqual(['actions.0.files.0.base64']);
    expect(fieldsOf(upload())).toEqual(['actions.0.files']);
  });

  it('looks like another browser only over plain HTTP with the identity of one', () => {
    const given = { identityBrowser: 'firefox', identity: 'browser', engine: 'http' };
    expect(optionsOf(given)).toMatchObject({ identityBrowser: 'firefox' });
    expect(fieldsOf({ ...given, engine: 'auto' })).toEqual(['identityBrowser']);
    expect(fieldsOf({ ...given, identity: null })).toEqual(['identityBrowser']);
  });

  it('becomes one wish', () => {
    const actions = [
      { type: 'click', selector: '#more' },
      { type: 'type', selector: '#q', text: 'words', timeoutMs: 500 },
      { type: 'press', key: 'Enter' },
      { type: 'select', selector: 'select', value: 'b' },
      { type: 'wait', selector: '.item' },
      { type: 'scroll', pixels: -200 },
      { type: 'evaluate', script: 'document.title' },
      { type: 'screenshot', fullPage: true },
    ];
    const { render, formats } = optionsOf({
      wait: { selector: '#list', ms: 10, until: 'networkidle' },
      scroll: { maxSteps: 5 },
      actions,
      screenshot: { fullPage: true, format: 'jpeg', quality: 70 },
      formats: ['text', 'pdf', 'xhr'],
      blockResources: ['images', 'images'],
    });
    expect(render).toEqual({
      wait: { selector: '#list', ms: 10, until: 'networkidle' },
      scroll: { maxSteps: 5 },
      actions,
      screenshot: { fullPage: true, format: 'jpeg', quality: 70 },
      pdf: true,
      captureXhr: true,
      blockResources: ['images'],
    });
    expect(formats).toEqual(['text', 'pdf', 'xhr', 'screenshot']);
  });

  it('a picture is taken for its format alone, and its options ask for the format', () => {
    expect(optionsOf({ formats: ['screenshot'] }).render).toEqual({ screenshot: {} });
    expect(optionsOf({ formats: ['text', 'screenshot'], screenshot: { selector: 'h1' } })).toMatchObject({
      formats: ['text', 'screenshot'],
      render: { screenshot: { selector: 'h1' } },
    });
    expect(optionsOf({ scroll: true }).render).toEqual({ scroll: {} });
  });

  it('a pause that was asked for gets the time it takes', () => {
    const actions = [
      { type: 'wait', ms: 12_000 },
      { type: 'wait', ms: 200 },
    ];
    expect(optionsOf({ actions }).render?.actions).toEqual([
      { type: 'wait', ms: 12_000, timeoutMs: 22_000 },
      { type: 'wait', ms: 200 },
    ]);
  });

  it('is the same in a batch and a crawl, and without pictures in a map', () => {
    const options = { wait: { selector: 'a' }, screenshot: { fullPage: true }, proxy: { country: 'DE' } };
    expect(parseRequest(batchRequestSchema, { urls: [url], options }).options).toMatchObject(options);
    expect(parseRequest(crawlRequestSchema, { urls: [url], options }).options).toMatchObject(options);
    const { screenshot: _, ...mapped } = options;
    const map = parseRequest(mapRequestSchema, { url, options: mapped });
    expect(pageOptionsOf({ ...map.options, formats: ['links'] })).toMatchObject({
      render: { wait: { selector: 'a' } },
      proxy: { tier: null, country: 'de', url: null },
    });
    expect(() => parseRequest(mapRequestSchema, { url, options })).toThrow(/options.screenshot/);
  });
});

describe('a wrong step', () => {
  it.each([
    [{ type: 'click' }, 'selector'],
    [{ type: 'type', selector: 'a' }, 'text'],
    [{ type: 'press' }, 'key'],
    [{ type: 'select', selector: 'a' }, 'value'],
    [{ type: 'scroll', pixels: 'far' }, 'pixels'],
    [{ type: 'scroll', selector: 'a', pixels: 1 }, 'pixels'],
    [{ type: 'evaluate', script: '' }, 'script'],
    [{ type: 'screenshot', quality: 3 }, 'quality'],
    [{ type: 'screenshot', fullPage: true, selector: 'a' }, 'fullPage'],
    [{ type: 'wait', ms: -1 }, 'ms'],
    [{ type: 'wait', until: 'later' }, 'until'],
    [{ type: 'swipe', selector: 'a' }, 'type'],
    [{ type: 'click', selector: 'a', text: 'b' }, 'text'],
    [{ type: 'click', selector: 'a', timeoutMs: 5 }, 'timeoutMs'],
  ])('%j is named by its place and field', (action, field) => {
    const good = { type: 'press', key: 'a' };
    expect(fieldsOf({ actions: [good, good, action] })).toEqual([`actions.2.${field}`]);
  });

  it('that waits for nothing, or is none, is named by its place', () => {
    expect(fieldsOf({ actions: [{ type: 'wait' }] })).toEqual(['actions.0']);
    expect(problemsWith({ actions: ['click'] })).toEqual({
      'actions.0': expect.stringContaining('click, hover'),
    });
    expect(fieldsOf({ actions: Array.from({ length: 101 }, () => ({ type: 'press', key: 'a' })) })).toEqual([
      'actions',
    ]);
  });
});

describe('options of a page', () => {
  it.each<[object, string[]]>([
    [{ wait: {} }, ['wait']],
    [{ wait: { ms: 5, for: '#a' } }, ['wait.for']],
    [{ wait: { selector: '' } }, ['wait.selector']],
    [{ scroll: 'down' }, ['scroll']],
    [{ scroll: { maxSteps: 0 } }, ['scroll.maxSteps']],
    [{ scroll: { speed: 1 } }, ['scroll.speed']],
    [{ screenshot: { fullPage: true, selector: 'a' } }, ['screenshot.fullPage']],
    [{ screenshot: { format: 'gif' } }, ['screenshot.format']],
    [{ blockResources: ['scripts'] }, ['blockResources.0']],
    [{ identity: 'me' }, ['identity']],
    [{ session: 'with space' }, ['session']],
    [{ session: '../x' }, ['session']],
    [{ session: 'x'.repeat(101) }, ['session']],
    [{ proxy: {} }, ['proxy']],
    [{ proxy: { country: 'zz' } }, ['proxy.country']],
    [{ proxy: { country: 'germany' } }, ['proxy.country']],
    [{ proxy: { tier: 'best' } }, ['proxy.tier']],
    [
      { proxy: { url: 'http://p.example:1', tier: 'mobile', country: 'de' } },
      ['proxy.country', 'proxy.tier'],
    ],
    [{ proxy: { url: 'ftp://p.example:21' } }, ['proxy.url']],
    [{ proxy: { url: 'http://p.example:99999' } }, ['proxy.url']],
    [{ proxy: { url: 'socks5://' } }, ['proxy.url']],
  ])('%j are refused by name', (given, fields) => expect(fieldsOf(given)).toEqual(fields));

  it('that contradict the engine are refused', () => {
    const given = {
      engine: 'http',
      scroll: true,
      actions: [{ type: 'press', key: 'a' }],
      formats: ['text', 'pdf'],
    };
    expect(fieldsOf(given)).toEqual(['actions', 'formats.1', 'scroll']);
    expect(fieldsOf({ engine: 'stealth', identity: 'bot' })).toEqual(['identity']);
    expect(fieldsOf({ engine: 'flaresolverr', identity: 'bot' })).toEqual(['identity']);
  });

  it('that wait longer than the attempt may take are refused at the pause that is too much', () => {
    expect(fieldsOf({ timeoutMs: 5_000, wait: { ms: 5_000 } })).toEqual(['wait.ms']);
    const actions = [
      { type: 'wait', ms: 2_000 },
      { type: 'wait', ms: 2_000 },
      { type: 'wait', ms: 9_000 },
    ];
    expect(fieldsOf({ timeoutMs: 5_000, wait: { ms: 1_000 }, actions })).toEqual(['actions.1.ms']);
    expect(fieldsOf({ timeoutMs: 15_000, wait: { ms: 1_000 }, actions })).toEqual([]);
  });

  it('keep a proxy’s password out of every message', () => {
    const password = fc.stringMatching(/^[!-~]{8,30}$/).filter((text) => !/^[a-z ]+$/.test(text));
    fc.assert(
      fc.property(password, fc.constantFrom('ftp', 'http', 'socks5', ''), (secret, scheme) => {
        const urls = [
          `${scheme}://me:${secret}@`,
          `${scheme}:me:${secret}`,
          `x${scheme}://me:${secret}@p:1/y`,
        ];
        for (const text of urls)
          expect(JSON.stringify(problemsWith({ proxy: { url: text } }))).not.toContain(secret);
      }),
    );
  });

  it('keep the caller’s own proxy as it was given', () => {
    const own = 'socks5://me:p%40ss@proxy.example:1080';
    expect(optionsOf({ proxy: { url: own } }).proxy).toEqual({ tier: null, country: null, url: own });
    expect(optionsOf({ proxy: { tier: 'residential', country: 'US' } }).proxy).toEqual({
      tier: 'residential',
      country: 'us',
      url: null,
    });
  });
});
