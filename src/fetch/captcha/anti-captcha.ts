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

/** Anti-Captcha's JSON interface. Captchas are solved from the service's own addresses, without a proxy of this installation. */
export const createAntiCaptcha = (options: SolverOptions): CaptchaSolver =>
  createPollingSolver(AntiCaptchaApi, options);

const answerSchema = z.looseObject({
  errorId: z.coerce.number(),
  errorCode: z.string().nullish(),
  taskId: z.union([z.string(), z.number()]).optional(),
  status: z.string().optional(),
  cost: z.union([z.string(), z.number()]).nullish(),
  balance: z.union([z.string(), z.number()]).optional(),
  solution: z
    .looseObject({
      gRecaptchaResponse: z.string().optional(),
      token: z.string().optional(),
      text: z.string().optional(),
      userAgent: z.string().nullish(),
    })
    .nullish(),
});
type Answer = z.infer<typeof answerSchema>;

/** Codes after which the same may work a moment later. */
const PASSING: ReadonlySet<string> = new Set(['ERROR_NO_SLOT_AVAILABLE', 'ERROR_TOO_MUCH_REQUESTS']);

/** Methods to which bad solutions are reported; the service takes no reports about Turnstile. */
const REPORTS: Readonly<Record<CaptchaKind, string | null>> = {
  'recaptcha-v2': 'reportIncorrectRecaptcha',
  'recaptcha-v3': 'reportIncorrectRecaptcha',
  hcaptcha: 'reportIncorrectHcaptcha',
  turnstile: null,
  'image-text': 'reportIncorrectImageCaptcha',
};

class AntiCaptchaApi implements SolverApi {
  readonly name = 'anti-captcha';
  readonly #key: string;
  readonly #line: CaptchaApiClient;

  constructor(key: string, line: CaptchaApiClient) {
    this.#key = key;
    this.#line = line;
  }

  async submit(captcha: Captcha, signal: AbortSignal): Promise<Reply<string>> {
    const reply = await this.#ask('createTask', { task: taskFor(captcha) }, signal);
    return whenOk(reply, ({ taskId }) =>
      taskId === undefined
        ? { kind: 'fault', reason: 'it names no task' }
        : { kind: 'ok', value: String(taskId) },
    );
  }

  async result(taskId: string, kind: CaptchaKind, signal: AbortSignal): Promise<Reply<ServiceAnswer>> {
    const reply = await this.#ask('getTaskResult', { taskId: idOf(taskId) }, signal);
    return whenOk(reply, ({ status, solution, cost }) => {
      if (status !== 'ready') return { kind: 'pending' };
      const token =
        kind === 'image-text' ? solution?.text : (solution?.gRecaptchaResponse ?? solution?.token);
      if (token === undefined || token === '') return { kind: 'refused', reason: 'its solution is empty' };
      const userAgent = solution?.userAgent ?? null;
      return { kind: 'ok', value: { token, userAgent, costUsd: dollars(cost) } };
    });
  }

  async reportBad(taskId: string, kind: CaptchaKind, signal: AbortSignal): Promise<unknown> {
    const method = REPORTS[kind];
    return method === null ? null : this.#ask(method, { taskId: idOf(taskId) }, signal);
  }

  async balance(signal: AbortSignal): Promise<Reply<number>> {
    return whenOk(await this.#ask('getBalance', {}, signal), ({ balance }) => balanceOf(balance));
  }

  async #ask(method: string, more: object, signal: AbortSignal): Promise<Reply<Answer>> {
    const text = JSON.stringify({ clientKey: this.#key, ...more });
    const body = { contentType: 'application/json', text };
    const reply = await this.#line.ask({ path: method, body }, signal);
    return whenOk(shaped(reply, answerSchema), (answer) => {
      const { errorId, errorCode } = answer;
      if (errorId === 0) return { kind: 'ok', value: answer };
      return declined(errorCode, PASSING, `its error number ${errorId}`);
    });
  }
}

/** Anti-Captcha counts its tasks; others that speak like it give them names. */
function idOf(taskId: string): string | number {
  return /^\d{1,15}$/.test(taskId) ? Number(taskId) : taskId;
}

function taskFor(captcha: Captcha): Record<string, unknown> {
  if (captcha.kind === 'image-text') {
    const body = Buffer.from(captcha.image).toString('base64');
    return { type: 'ImageToTextTask', body, ...(captcha.hint === null ? {} : { comment: captcha.hint }) };
  }
  const place = { websiteURL: publicPart(captcha.pageUrl), websiteKey: captcha.siteKey };
  switch (captcha.kind) {
    case 'recaptcha-v2':
      if (captcha.isEnterprise) {
        const payload = captcha.dataS === null ? {} : { enterprisePayload: { s: captcha.dataS } };
        return { type: 'RecaptchaV2EnterpriseTaskProxyless', ...place, ...payload };
      }
      return {
        type: 'RecaptchaV2TaskProxyless',
        ...place,
        ...(captcha.isInvisible ? { isInvisible: true } : {}),
        ...(captcha.dataS === null ? {} : { recaptchaDataSValue: captcha.dataS }),
      };
    case 'recaptcha-v3':
      return {
        type: 'RecaptchaV3TaskProxyless',
        ...place,
        minScore: captcha.minScore,
        ...(captcha.action === null ? {} : { pageAction: captcha.action }),
        ...(captcha.isEnterprise ? { isEnterprise: true } : {}),
      };
    case 'hcaptcha':
      return {
        type: 'HCaptchaTaskProxyless',
        ...place,
        ...(captcha.isInvisible ? { isInvisible: true } : {}),
        ...(captcha.rqData === null ? {} : { enterprisePayload: { rqdata: captcha.rqData } }),
      };
    case 'turnstile':
      return {
        type: 'TurnstileTaskProxyless',
        ...place,
        ...(captcha.action === null ? {} : { action: captcha.action }),
        ...(captcha.cData === null ? {} : { cData: captcha.cData }),
      };
  }
}
