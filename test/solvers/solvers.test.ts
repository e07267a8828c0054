import { describe, expect, it, onTestFinished } from 'vitest';
import { ScrapifieError } from '../../src/core/errors/scrapifie-error.ts';
import type { Captcha, CaptchaSolver, UnsolvedDetails } from '../../src/core/ports/captcha.ts';
import { createAntiCaptcha } from '../../src/fetch/captcha/anti-captcha.ts';
import type { SolverTiming } from '../../src/fetch/captcha/captcha-solvers.ts';
import { createTwoCaptcha } from '../../src/fetch/captcha/two-captcha.ts';
import { failureOf } from '../proxies/fetch-through.ts';
import { serving, until } from './local-server.ts';
import { type SolverService, startAntiCaptcha, startTwoCaptcha } from './solver-sites.ts';

const TIMING: SolverTiming = { firstPauseMs: 5, pauseMs: 5, limitMs: 10_000, requestMs: 5_000 };
const PAGE = 'https://shop.example/cart?token=s3cret#top';
const V2: Captcha = {
  kind: 'recaptcha-v2',
  siteKey: '6Lc-v2',
  pageUrl: PAGE,
  isInvisible: false,
  isEnterprise: false,
  dataS: null,
};
const V3: Captcha = {
  kind: 'recaptcha-v3',
  siteKey: '6Lc-v3',
  pageUrl: PAGE,
  isEnterprise: false,
  action: 'login',
  minScore: 0.3,
};
const H: Captcha = { kind: 'hcaptcha', siteKey: 'h-key', pageUrl: PAGE, isInvisible: false, rqData: null };
const TURNSTILE: Captcha = { kind: 'turnstile', siteKey: '0x4AAA', pageUrl: PAGE, action: 'in', cData: 'c' };
const IMAGE: Captcha = { kind: 'image-text', image: Buffer.from('picture'), hint: 'only digits' };

const DRIVERS = [
  { name: '2captcha', start: startTwoCaptcha, create: createTwoCaptcha },
  { name: 'anti-captcha', start: startAntiCaptcha, create: createAntiCaptcha },
] as const;

const patient = () => new AbortController().signal;
const reasonOf = ({ details }: ScrapifieError): string => (details as UnsolvedDetails).reason;

describe.each(DRIVERS)('$name', ({ name, start, create }) => {
  async function stage(timing: Partial<SolverTiming> = {}, more: { key?: string; url?: string } = {}) {
    const service: SolverService = await start();
    const { key } = service.manners;
    const solver: CaptchaSolver = create({
      key,
      url: service.url,
      timing: { ...TIMING, ...timing },
      ...more,
    });
    onTestFinished(() => solver.close());
    return { service, manners: service.manners, solver };
  }

  it('gives a token, with what it took and cost', async () => {
    const { solver, service } = await stage();
    service.manners.notReady = 3;
    const solution = await solver.solve(V2, patient());
    expect(solution).toMatchObject({
      kind: 'recaptcha-v2',
      token: 'token-for-6Lc-v2',
      solver: name,
      taskId: '70001',
      costUsd: 0.002_99,
      userAgent: null,
    });
    expect(solution.ms).toBeGreaterThan(0);
  });

  it.each([V2, V3, H, TURNSTILE, IMAGE])('solves $kind', async (captcha) => {
    const { solver, manners } = await stage();
    manners.userAgent = 'Mozilla/5.0 Solver';
    const { token, userAgent } = await solver.solve(captcha, patient());
    const wanted = captcha.kind === 'image-text' ? 'picture' : captcha.siteKey;
    expect(token).toBe(`token-for-${wanted}`);
    if (captcha.kind === 'turnstile') expect(userAgent).toBe('Mozilla/5.0 Solver');
  });

  it('is told the page without what may be secret in its address', async () => {
    const { solver, service } = await stage();
    await solver.solve(V2, patient());
    expect(JSON.stringify(service.tasks)).toContain('https://shop.example/cart"');
    expect(JSON.stringify(service.tasks)).not.toContain('s3cret');
  });

  it('is asked again while no worker is free and while somebody in between fails', async () => {
    const { solver, manners, service } = await stage();
    manners.busyFor = 2;
    manners.outages = 1;
    await solver.solve(V2, patient());
    expect(service.tasks).toHaveLength(1);
  });

  it('is asked again when one question got no answer', async () => {
    const { solver, manners, service } = await stage({ requestMs: 1_000 });
    manners.silent = 1;
    await solver.solve(V2, patient());
    expect(service.tasks).toHaveLength(1);
  });

  it.each([
    ['ERROR_ZERO_BALANCE', true],
    ['ERROR_IP_NOT_ALLOWED', true],
    ['ERROR_TASK_NOT_SUPPORTED', false],
  ])('is not asked again after %s', async (code, isAccountFault) => {
    const { solver, manners, service } = await stage();
    manners.refusesWith = code;
    const failure = await failureOf(solver.solve(V2, patient()));
    expect(failure).toMatchObject({
      code: 'CAPTCHA_UNSOLVED',
      details: { solver: name, reason: code, isAccountFault },
    });
    expect(service.questions).toHaveLength(1);
  });

  it('knows its customers by their key, which is in no error', async () => {
    const key = 'another-key-that-nobody-must-see';
    const { solver, service } = await stage({}, { key });
    const failures = [
      await failureOf(solver.solve(V2, patient())),
      await failureOf(solver.balance(patient())),
    ];
    for (const failure of failures) {
      expect(reasonOf(failure)).toBe('ERROR_KEY_DOES_NOT_EXIST');
      const text = JSON.stringify([
        failure,
        failure.message,
        failure.details,
        String(failure.cause),
        failure.stack,
      ]);
      expect(text).not.toContain(key);
    }
    expect(service.questions).toHaveLength(2);
  });

  it('is not repeated when it says anything but a code', async () => {
    const { solver, manners } = await stage();
    manners.refusesWith = `No customer has the key ${manners.key}`;
    const failure = await failureOf(solver.solve(V2, patient()));
    expect(JSON.stringify([failure, failure.message, failure.details])).not.toContain(manners.key);
  });

  it('says so when nobody can solve the captcha', async () => {
    const { solver, manners } = await stage();
    manners.failsWith = 'ERROR_CAPTCHA_UNSOLVABLE';
    expect(reasonOf(await failureOf(solver.solve(V2, patient())))).toBe('ERROR_CAPTCHA_UNSOLVABLE');
  });

  it('is given up when it fails again and again: busy, down, not there', async () => {
    const { solver, manners, service } = await stage();
    manners.busyFor = 100;
    expect(reasonOf(await failureOf(solver.solve(V2, patient())))).toBe('ERROR_NO_SLOT_AVAILABLE');
    expect(service.questions).toHaveLength(4);
    manners.busyFor = 0;
    manners.outages = 100;
    expect(reasonOf(await failureOf(solver.solve(V2, patient())))).toBe('it answered with status 503');
    const nowhere = create({ key: 'a-key', url: 'http://127.0.0.1:1', timing: TIMING });
    onTestFinished(() => nowhere.close());
    expect(reasonOf(await failureOf(nowhere.solve(V2, patient())))).toBe('it was not reached (ECONNREFUSED)');
  });

  it('is given up when it does not answer', async () => {
    const { solver, manners } = await stage({ requestMs: 100 });
    manners.silent = 100;
    expect(reasonOf(await failureOf(solver.solve(V2, patient())))).toBe('no answer within 100 ms');
  });

  it.each([
    [200, 'OK|123', 'its answer with status 200 cannot be read'],
    [200, '[]', 'its answer has another shape'],
    [404, '<h1>Not found</h1>', 'its answer with status 404 cannot be read'],
  ])('is given up when it is another service: %i %s', async (status, text, reason) => {
    const url = await serving((request, response) => {
      request.resume();
      response.writeHead(status).end(text);
    });
    const { solver } = await stage({}, { url });
    expect(reasonOf(await failureOf(solver.solve(V2, patient())))).toBe(reason);
  });

  it('has so much time for a captcha', async () => {
    const { solver, manners } = await stage({ limitMs: 150 });
    manners.notReady = Number.POSITIVE_INFINITY;
    expect(reasonOf(await failureOf(solver.solve(V2, patient())))).toBe('no solution within 150 ms');
  });

  it('is left when nobody waits any more, for the reason that is given', async () => {
    const { solver, manners, service } = await stage();
    manners.notReady = Number.POSITIVE_INFINITY;
    const caller = new AbortController();
    const attempt = failureOf(solver.solve(V2, caller.signal));
    await until(() => service.questions.length > 2);
    const reason = new ScrapifieError('TASK_TIMEOUT', 'the page took too long');
    caller.abort(reason);
    expect(await attempt).toBe(reason);
    expect(await failureOf(solver.solve(V2, AbortSignal.abort()))).toMatchObject({ code: 'CANCELLED' });
  });

  it('ends what is under way when it is closed', async () => {
    const { solver, manners, service } = await stage();
    manners.notReady = Number.POSITIVE_INFINITY;
    const attempt = failureOf(solver.solve(V2, patient()));
    await until(() => service.questions.length > 2);
    await solver.close();
    expect((await attempt).code).toBe('SHUTTING_DOWN');
    expect((await failureOf(solver.solve(V2, patient()))).code).toBe('SHUTTING_DOWN');
  });

  it('hears of bad solutions, and it does not matter whether it listens', async () => {
    const { solver, manners, service } = await stage();
    for (const captcha of [V2, V3, H, IMAGE]) {
      await solver.reportBad(await solver.solve(captcha, patient()));
    }
    expect(service.reports).toEqual(['70001', '70002', '70003', '70004']);
    const solution = await solver.solve(V2, patient());
    manners.outages = 1;
    await solver.reportBad(solution);
    await solver.close();
    await solver.reportBad(solution);
  });

  it('tells the balance', async () => {
    const { solver, manners } = await stage();
    manners.balance = 1.25;
    expect(await solver.balance(patient())).toBe(1.25);
  });

  it('need not tell a price', async () => {
    const { solver, manners } = await stage();
    manners.price = null;
    expect((await solver.solve(V2, patient())).costUsd).toBeNull();
  });
});

describe('what the services are asked', () => {
  async function asked(driver: (typeof DRIVERS)[number], captcha: Captcha) {
    const service = await driver.start();
    const solver = driver.create({ key: service.manners.key, url: service.url, timing: TIMING });
    onTestFinished(() => solver.close());
    await solver.solve(captcha, patient());
    return service.tasks[0];
  }
  const [two, anti] = DRIVERS;
  const strict: Captcha = { ...V2, isEnterprise: true, isInvisible: true, dataS: 'once' };
  const place = { websiteURL: 'https://shop.example/cart' };
  const pageurl = 'https://shop.example/cart';

  it('2captcha, by method', async () => {
    expect(await asked(two, strict)).toEqual({
      method: 'userrecaptcha',
      googlekey: '6Lc-v2',
      pageurl,
      invisible: '1',
      enterprise: '1',
      'data-s': 'once',
    });
    expect(await asked(two, V3)).toEqual({
      method: 'userrecaptcha',
      version: 'v3',
      googlekey: '6Lc-v3',
      pageurl,
      action: 'login',
      min_score: '0.3',
    });
    expect(await asked(two, { ...H, rqData: 'rq' } as Captcha)).toEqual({
      method: 'hcaptcha',
      sitekey: 'h-key',
      pageurl,
      data: 'rq',
    });
    expect(await asked(two, TURNSTILE)).toEqual({
      method: 'turnstile',
      sitekey: '0x4AAA',
      pageurl,
      action: 'in',
      data: 'c',
    });
    expect(await asked(two, IMAGE)).toEqual({
      method: 'base64',
      body: Buffer.from('picture').toString('base64'),
      textinstructions: 'only digits',
    });
  });

  it('anti-captcha, by type of task', async () => {
    expect(await asked(anti, strict)).toEqual({
      type: 'RecaptchaV2EnterpriseTaskProxyless',
      ...place,
      websiteKey: '6Lc-v2',
      enterprisePayload: { s: 'once' },
    });
    expect(await asked(anti, { ...strict, isEnterprise: false } as Captcha)).toEqual({
      type: 'RecaptchaV2TaskProxyless',
      ...place,
      websiteKey: '6Lc-v2',
      isInvisible: true,
      recaptchaDataSValue: 'once',
    });
    expect(await asked(anti, { ...V3, isEnterprise: true } as Captcha)).toEqual({
      type: 'RecaptchaV3TaskProxyless',
      ...place,
      websiteKey: '6Lc-v3',
      minScore: 0.3,
      pageAction: 'login',
      isEnterprise: true,
    });
    expect(await asked(anti, H)).toEqual({ type: 'HCaptchaTaskProxyless', ...place, websiteKey: 'h-key' });
    expect(await asked(anti, TURNSTILE)).toEqual({
      type: 'TurnstileTaskProxyless',
      ...place,
      websiteKey: '0x4AAA',
      action: 'in',
      cData: 'c',
    });
    expect(await asked(anti, IMAGE)).toEqual({
      type: 'ImageToTextTask',
      body: Buffer.from('picture').toString('base64'),
      comment: 'only digits',
    });
  });
});
