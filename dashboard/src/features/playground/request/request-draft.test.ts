import { describe, expect, it } from 'vitest';
import { draftOf, messageAt, placeOf, requestOf } from './request-draft.ts';
import { shareable } from './shareable.ts';

const FULL = {
  url: 'https://example.com/',
  formats: ['markdown', 'xhr'],
  onlyMainContent: false,
  includeTags: ['main', '.a'],
  screenshot: { fullPage: true, quality: 80 },
  engine: 'wine:bottle',
  wait: { selector: '#a', ms: 5 },
  scroll: false,
  actions: [{ type: 'type', selector: '#q', text: 'hat' }],
  headers: { Accept: 'text/html', 'X-Time': '10:30' },
  proxy: { country: 'de', urls: ['http://a:1'] },
  extract: { type: 'auto', rules: { title: 'h1' }, llm: { derived: 'all' } },
  maxAge: '2h',
  obeyRobots: false,
  retention: { bodies: '24h' },
};

describe('the form of a request', () => {
  it('gives back the request that it was made of', () => {
    expect(requestOf(draftOf(FULL))).toEqual({ body: FULL, problems: {} });
  });

  it('keeps what it has no field for', () => {
    const odd = { url: 'https://example.com/', scroll: { maxSteps: 3 }, formats: 'all', later: [1] };
    expect(requestOf(draftOf(odd)).body).toEqual(odd);
  });

  it('says at the field what is wrong before the server is asked', () => {
    const { problems } = requestOf({
      url: 'ftp://x',
      headers: 'no colon',
      timeoutMs: 'soon',
      'extract.rules': '{',
      '*': '[]',
    });
    expect(Object.keys(problems)).toEqual(['url', 'headers', 'extract.rules', 'timeoutMs', '*']);
  });

  it('adds the scheme that people leave out, but to no other scheme', () => {
    expect(requestOf({ url: ' example.com/a ' }).body.url).toBe('https://example.com/a');
    expect(requestOf({ url: 'javascript:alert(1)' }).problems.url).toBeDefined();
  });

  it('finds the field for the place that the server names', () => {
    expect(placeOf('extract.rules.price.css')).toBe('extract.rules');
    expect(placeOf('actions.2.selector')).toBe('actions');
    expect(placeOf('screenshot')).toBe('screenshot.fullPage');
    expect(placeOf('webhook.url')).toBe(null);
    expect(messageAt('wait.ms', 'wait.ms', '`wait.ms` must be at least 0.')).toBe('Must be at least 0.');
    expect(messageAt('extract.rules', 'extract.rules.a', '`extract.rules.a` column 4: Wrong.')).toBe(
      'a: column 4: Wrong.',
    );
  });
});

describe('the request in the address', () => {
  it('has no cookies, keys, passwords or typed texts', () => {
    const { request, leftOut } = shareable({
      ...FULL,
      cookies: { sid: 'SECRET' },
      headers: { Accept: 'text/html', Authorization: 'SECRET', 'X-Api-Key': 'SECRET' },
      body: 'SECRET',
      proxy: { url: 'http://u:SECRET@h:1' },
      actions: [{ type: 'type', selector: '#p', text: 'SECRET' }],
      webhook: { url: 'https://x/', secret: 'SECRET' },
    });
    expect(JSON.stringify(request)).not.toContain('SECRET');
    expect(request.headers).toEqual({ Accept: 'text/html' });
    expect(leftOut).toHaveLength(6);
  });
});
