import { z } from 'zod';
import type { Captcha, CaptchaKind, CaptchaSolver } from '../../core/ports/captcha.ts';
import { type CaptchaApiClient, declined, type Reply, shaped, whenOk } from './captcha-api-client.ts';
import {
  balanceOf,
  createPollingSolver,
  dollars,
  publicPart,
  type ServiceAnswer,
  type SolverApi,
  type SolverOptions,
} from './captcha-solvers.ts';

/**
 * 2Captcha's first interface, with `in.php` and `res.php`: the one that other services offer for programs written for
 * 2Captcha.
 */
export const createTwoCaptcha = (options: SolverOptions): CaptchaSolver =>
  createPollingSolver(TwoCaptchaApi, options);

const answerSchema = z.looseObject({
  status: z.coerce.number(),
  request: z.union([z.string(), z.number()]).transform(String),
  useragent: z.string().optional(),
  price: z.union([z.string(), z.number()]).optional(),
});
type Answer = z.infer<typeof answerSchema>;

/** Codes after which the same may work a moment later. */
const PASSING: ReadonlySet<string> = new Set([
  'ERROR_NO_SLOT_AVAILABLE',
  'MAX_USER_TURN',
  'ERROR_TOO_MUCH_REQUESTS',
  'ERROR_SERVER_ERROR',
  'ERROR_INTERNAL_SERVER_ERROR',
]);
/** The price is no reason to let a solution grow old. */
const PRICE_MS = 2_000;

class TwoCaptchaApi implements SolverApi {
  readonly name = '2captcha';
  readonly #key: string;
  readonly #line: CaptchaApiClient;

  constructor(key: string, line: CaptchaApiClient) {
    this.#key = key;
    this.#line = line;
  }

  async submit(captcha: Captcha, signal: AbortSignal): Promise<Reply<string>> {
    const form = new URLSearchParams({ key: this.#key, json: '1', ...fieldsOf(captcha) });
    const body = { contentType: 'application/x-www-form-urlencoded', text: form.toString() };
    const reply = read(await this.#line.ask({ path: 'in.php', body }, signal));
    return whenOk(reply, ({ request }) => ({ kind: 'ok', value: request }));
  }

  async result(taskId: string, _kind: CaptchaKind, signal: AbortSignal): Promise<Reply<ServiceAnswer>> {
    const reply = await this.#ask('get', taskId, signal);
    if (reply.kind !== 'ok') return reply;
    const { request: token, useragent = null, price } = reply.value;
    const costUsd = dollars(price) ?? (await this.#price(taskId, token, signal));
    return { kind: 'ok', value: { token, userAgent: useragent, costUsd } };
  }

  reportBad(taskId: string, _kind: CaptchaKind, signal: AbortSignal): Promise<unknown> {
    return this.#ask('reportbad', taskId, signal);
  }

  async balance(signal: AbortSignal): Promise<Reply<number>> {
    return whenOk(await this.#ask('getbalance', null, signal), ({ request }) => balanceOf(request));
  }

  async #ask(action: string, taskId: string | null, signal: AbortSignal): Promise<Reply<Answer>> {
    const query = { key: this.#key, action, json: '1', ...(taskId === null ? {} : { id: taskId }) };
    return read(await this.#line.ask({ path: 'res.php', query }, signal));
  }

  /** Not every service tells it, and nothing depends on it. */
  async #price(taskId: string, token: string, signal: AbortSignal): Promise<number | null> {
    try {
      const within = AbortSignal.any([signal, AbortSignal.timeout(PRICE_MS)]);
      const reply = await this.#ask('get2', taskId, within);
      if (reply.kind !== 'ok') return null;
      const { price, request } = reply.value;
      // Some write the answer and its price in one.
      return dollars(price ?? (request.startsWith(`${token}|`) ? request.slice(token.length + 1) : null));
    } catch {
      return null;
    }
  }
}

function read(reply: Reply<unknown>): Reply<Answer> {
  return whenOk(shaped(reply, answerSchema), (answer) => {
    if (answer.status === 1) return { kind: 'ok', value: answer };
    if (answer.request === 'CAPCHA_NOT_READY') return { kind: 'pending' };
    return declined(answer.request, PASSING, 'it gives no reason that can be read');
  });
}

function fieldsOf(captcha: Captcha): Record<string, string> {
  switch (captcha.kind) {
    case 'recaptcha-v2':
      return {
        method: 'userrecaptcha',
        googlekey: captcha.siteKey,
        pageurl: publicPart(captcha.pageUrl),
        ...(captcha.isInvisible ? { invisible: '1' } : {}),
        ...(captcha.isEnterprise ? { enterprise: '1' } : {}),
        ...(captcha.dataS === null ? {} : { 'data-s': captcha.dataS }),
      };
    case 'recaptcha-v3':
      return {
        method: 'userrecaptcha',
        version: 'v3',
        googlekey: captcha.siteKey,
        pageurl: publicPart(captcha.pageUrl),
        min_score: String(captcha.minScore),
        ...(captcha.isEnterprise ? { enterprise: '1' } : {}),
        ...(captcha.action === null ? {} : { action: captcha.action }),
      };
    case 'hcaptcha':
      return {
        method: 'hcaptcha',
        sitekey: captcha.siteKey,
        pageurl: publicPart(captcha.pageUrl),
        ...(captcha.isInvisible ? { invisible: '1' } : {}),
        ...(captcha.rqData === null ? {} : { data: captcha.rqData }),
      };
    case 'turnstile':
      return {
        method: 'turnstile',
        sitekey: captcha.siteKey,
        pageurl: publicPart(captcha.pageUrl),
        ...(captcha.action === null ? {} : { action: captcha.action }),
        ...(captcha.cData === null ? {} : { data: captcha.cData }),
      };
    case 'image-text':
      return {
        method: 'base64',
        body: Buffer.from(captcha.image).toString('base64'),
        ...(captcha.hint === null ? {} : { textinstructions: captcha.hint }),
      };
  }
}
