import { expect, it, onTestFinished } from 'vitest';
import type { Captcha } from '../../src/core/ports/captcha.ts';
import { createAntiCaptcha } from '../../src/fetch/captcha/anti-captcha.ts';
import { type CaptchaServiceOptions, createCaptchaService } from '../../src/fetch/captcha/captcha-solvers.ts';
import { createTwoCaptcha } from '../../src/fetch/captcha/two-captcha.ts';
import { failureOf } from '../proxies/fetch-through.ts';
import { startAntiCaptcha, startTwoCaptcha } from './solver-sites.ts';

const timing = { firstPauseMs: 2, pauseMs: 2, limitMs: 5_000, requestMs: 2_000 };
const PUZZLE: Captcha = {
  kind: 'turnstile',
  siteKey: '0x4AAA',
  pageUrl: 'https://shop.example/',
  action: null,
  cData: null,
};
const patient = () => new AbortController().signal;

async function stage(more: Partial<CaptchaServiceOptions> = {}) {
  const [two, anti] = await Promise.all([startTwoCaptcha(), startAntiCaptcha()]);
  const service = createCaptchaService({
    primary: createTwoCaptcha({ key: two.manners.key, url: two.url, timing }),
    fallback: createAntiCaptcha({ key: anti.manners.key, url: anti.url, timing }),
    ...more,
  });
  onTestFinished(() => service.close());
  return { two, anti, service };
}

it('the first solver is asked, and the second only when that fails', async () => {
  const { two, anti, service } = await stage();
  expect((await service.solve(PUZZLE, patient())).solver).toBe('2captcha');
  expect(anti.questions).toEqual([]);
  two.manners.failsWith = 'ERROR_CAPTCHA_UNSOLVABLE';
  expect((await service.solve(PUZZLE, patient())).solver).toBe('anti-captcha');
});

it('the second solver does when the first is not set up', async () => {
  const { service } = await stage({ primary: null });
  expect((await service.solve(PUZZLE, patient())).solver).toBe('anti-captcha');
});

it('without any solver, puzzles stay unsolved', async () => {
  const service = createCaptchaService({ primary: null, fallback: null });
  expect(service.isSetUp).toBe(false);
  expect(await failureOf(service.solve(PUZZLE, patient()))).toMatchObject({
    code: 'CAPTCHA_UNSOLVED',
    message: 'The captcha was not solved: no solver service is set up',
  });
});

it('when both fail, both reasons are told', async () => {
  const { two, anti, service } = await stage();
  two.manners.balance = 0;
  anti.manners.failsWith = 'ERROR_CAPTCHA_UNSOLVABLE';
  expect(await failureOf(service.solve(PUZZLE, patient()))).toMatchObject({
    code: 'CAPTCHA_UNSOLVED',
    details: {
      solver: '2captcha, anti-captcha',
      reason: '2captcha: ERROR_ZERO_BALANCE; anti-captcha: ERROR_CAPTCHA_UNSOLVABLE',
      isAccountFault: false,
    },
  });
});

it('a solver without money is left alone for a while', async () => {
  let now = 0;
  const { two, service } = await stage({ restMs: 1_000, now: () => now });
  two.manners.balance = 0;
  for (let count = 0; count < 3; count += 1) await service.solve(PUZZLE, patient());
  expect(two.questions).toHaveLength(1);
  now = 1_001;
  two.manners.balance = 5;
  expect((await service.solve(PUZZLE, patient())).solver).toBe('2captcha');
});

it('a captcha that one could not solve is no reason to leave that solver alone', async () => {
  const { two, service } = await stage();
  two.manners.failsWith = 'ERROR_CAPTCHA_UNSOLVABLE';
  await service.solve(PUZZLE, patient());
  two.manners.failsWith = null;
  expect((await service.solve(PUZZLE, patient())).solver).toBe('2captcha');
});

it('nobody else is asked when nobody waits any more', async () => {
  const { two, anti, service } = await stage();
  two.manners.notReady = Number.POSITIVE_INFINITY;
  const failure = await failureOf(service.solve(PUZZLE, AbortSignal.timeout(100)));
  expect(failure.code).toBe('CANCELLED');
  expect(anti.questions).toEqual([]);
});

it('what was solved, how long it took, what it cost and what was bad is counted per solver', async () => {
  const { two, anti, service } = await stage();
  const solution = await service.solve(PUZZLE, patient());
  await service.reportBad(solution);
  two.manners.failsWith = 'ERROR_CAPTCHA_UNSOLVABLE';
  const second = await service.solve(PUZZLE, patient());
  expect(service.figures()).toEqual([
    { solver: '2captcha', solved: 1, failed: 1, refused: 1, ms: solution.ms, costUsd: 0.002_99 },
    { solver: 'anti-captcha', solved: 1, failed: 0, refused: 0, ms: second.ms, costUsd: 0.002_99 },
  ]);
  expect(two.reports).toEqual([solution.taskId]);
  expect(anti.reports).toEqual([]);
  expect(await service.balance(patient())).toBe(20);
});
