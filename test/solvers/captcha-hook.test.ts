import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  EXECUTABLE,
  failureOf,
  lastingBrowser,
  render,
  textOf,
} from '../../src/fetch/browser/browser.fixture.ts';
import { createBrowserEngine } from '../../src/fetch/browser/browser-engine.ts';
import { createCaptchaHook } from '../../src/fetch/captcha/captcha-hook.ts';
import { createCaptchaService } from '../../src/fetch/captcha/captcha-solvers.ts';
import { createTwoCaptcha } from '../../src/fetch/captcha/two-captcha.ts';
import type { BrowserRequest } from '../../src/fetch/engine.ts';
import { startCaptchaSite } from './captcha-site.ts';
import { until } from './local-server.ts';
import { startTwoCaptcha } from './solver-sites.ts';

const browser = lastingBrowser({ maxBrowsers: 1 });
afterAll(() => browser.engine.close());

const timing = { firstPauseMs: 5, pauseMs: 5, limitMs: 10_000, requestMs: 5_000 };

async function stage({ settleMs = 10_000 } = {}) {
  const [service, site] = await Promise.all([startTwoCaptcha(), startCaptchaSite()]);
  const primary = createTwoCaptcha({ key: service.manners.key, url: service.url, timing });
  const solver = createCaptchaService({ primary, fallback: null });
  onTestFinished(() => solver.close());
  const hook = createCaptchaHook({ solver, settleMs });
  const engine = createBrowserEngine({
    runtime: browser.runtime,
    userAgent: 'TestBot/1',
    hooks: { afterLoad: hook },
  });
  const open = (path: string, more: Partial<BrowserRequest> = {}) =>
    render(engine, site.origin + path, { maySolve: true, ...more });
  return { service, site, solver, open };
}

describe.skipIf(EXECUTABLE === null)('a captcha on a page', () => {
  it.each([
    ['/recaptcha', 'key-v2', 'recaptcha-v2', { method: 'userrecaptcha', 'data-s': 'once' }],
    ['/hcaptcha', 'key-h', 'hcaptcha', { method: 'hcaptcha' }],
    ['/turnstile', 'key-t', 'turnstile', { method: 'turnstile', action: 'enter', data: 'visit' }],
    ['/callback', 'key-t', 'turnstile', { method: 'turnstile' }],
    ['/explicit', 'key-e', 'recaptcha-v2', { enterprise: '1', invisible: '1', 'data-s': 'once' }],
    ['/score', 'key-v3', 'recaptcha-v3', { version: 'v3', action: 'enter', min_score: '0.3' }],
  ])('%s is solved, and what is behind it is the page', async (path, siteKey, kind, task) => {
    const { open, site, service } = await stage();
    site.accepts = `token-for-${siteKey}`;
    const response = await open(path);
    expect(response.failure).toBeNull();
    expect(textOf(response)).toContain('What was behind the captcha');
    expect(site.tried).toEqual([site.accepts]);
    expect(service.tasks).toEqual([expect.objectContaining({ ...task, pageurl: site.origin + path })]);
    expect(response.extra.captcha).toEqual({
      outcome: 'solved',
      kind,
      solver: '2captcha',
      ms: expect.any(Number),
      costUsd: 0.002_99,
      note: expect.stringMatching(/^the token was/),
    });
    expect(service.reports).toEqual([]);
  });

  it('is not looked for unless the request allows it', async () => {
    const { open, service } = await stage();
    const response = await open('/recaptcha', { maySolve: false });
    expect(textOf(response)).toContain('g-recaptcha');
    expect(response.extra.captcha).toBeNull();
    expect(service.questions).toEqual([]);
  });

  it('is not found where pages only speak of it', async () => {
    const { open, service } = await stage();
    const { extra } = await open('/none');
    expect(extra.captcha).toMatchObject({ outcome: 'none', kind: null });
    expect(service.questions).toEqual([]);
  });

  it('that nobody solves leaves the page as it is, with the reason', async () => {
    const { open, service } = await stage();
    service.manners.failsWith = 'ERROR_CAPTCHA_UNSOLVABLE';
    const response = await open('/turnstile');
    expect(response.failure).toBeNull();
    expect(textOf(response)).toContain('cf-turnstile');
    expect(response.extra.captcha).toMatchObject({
      outcome: 'unsolved',
      kind: 'turnstile',
      note: '2captcha: ERROR_CAPTCHA_UNSOLVABLE',
    });
  });

  it('that comes back was solved badly, which the service is told', async () => {
    const { open, service, site, solver } = await stage();
    const response = await open('/recaptcha');
    expect(textOf(response)).toContain('g-recaptcha');
    expect(site.tried).toEqual(['token-for-key-v2']);
    expect(response.extra.captcha).toMatchObject({
      outcome: 'unsolved',
      note: expect.stringContaining('asks again'),
    });
    expect(service.reports).toEqual(['70001']);
    expect(solver.figures()).toMatchObject([{ solved: 1, refused: 1 }]);
  });

  it('whose token nobody takes, or does anything with, is no bad solution', async () => {
    const { open, service } = await stage({ settleMs: 300 });
    const deaf = await open('/deaf');
    const idle = await open('/idle');
    expect([deaf.extra.captcha, idle.extra.captcha]).toMatchObject([
      { outcome: 'unsolved', note: 'nothing on the page takes the token' },
      { outcome: 'unsolved', note: 'the page did nothing with the token' },
    ]);
    expect(service.reports).toEqual([]);
  });

  it('is passed before what is behind it is waited for', async () => {
    const { open, site } = await stage();
    site.accepts = 'token-for-key-h';
    const response = await open('/hcaptcha', { wait: { selector: '#content' } });
    expect(response.failure).toBeNull();
    expect(textOf(response)).toContain('What was behind the captcha');
  });

  it('may take no longer than the page, of which there is what there was', async () => {
    const { open, service } = await stage();
    service.manners.notReady = Number.POSITIVE_INFINITY;
    const response = await open('/turnstile', { timeoutMs: 5_000 });
    expect(response.failure?.code).toBe('TASK_TIMEOUT');
    expect(textOf(response)).toContain('cf-turnstile');
    const asked = service.questions.length;
    await open('/none');
    expect(service.questions.length).toBeLessThanOrEqual(asked + 1);
  });

  it('is not worked on when nobody waits for the page any more', async () => {
    const { open, service } = await stage();
    service.manners.notReady = Number.POSITIVE_INFINITY;
    const caller = new AbortController();
    const attempt = failureOf(open('/turnstile', { signal: caller.signal }));
    await until(() => service.questions.length > 3);
    caller.abort();
    expect((await attempt).code).toBe('CANCELLED');
    const asked = service.questions.length;
    await open('/none');
    expect(service.questions.length).toBeLessThanOrEqual(asked + 1);
  });
});
