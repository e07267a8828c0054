import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, sendHtml, sendJson, serving } from './local-server.ts';

/** How a service treats its customers. May be changed at any time. */
export interface Manners {
  key: string;
  balance: number;
  /** How often a task is not ready yet before it is. */
  notReady: number;
  /** Code to refuse every new task with, in place of the service's own reasons. */
  refusesWith: string | null;
  /** How many new tasks in a row find no free worker. */
  busyFor: number;
  /** Tasks end with this code. */
  failsWith: string | null;
  /** So many requests from now on end in 503 with a page of a proxy in between. */
  outages: number;
  /** So many requests from now on are never answered. */
  silent: number;
  userAgent: string | null;
  /** Null: the service tells no price. */
  price: string | null;
  solve: (task: Readonly<Record<string, unknown>>) => string;
}

export interface SolverService {
  readonly url: string;
  readonly manners: Manners;
  /** New tasks as they came, in order, without the key. */
  readonly tasks: readonly Readonly<Record<string, unknown>>[];
  /** Ids of tasks whose solution was bad. */
  readonly reports: readonly string[];
  /** What was asked for, in order. */
  readonly questions: readonly string[];
}

interface Task {
  readonly id: string;
  readonly order: Readonly<Record<string, unknown>>;
  asked: number;
}

const manners = (): Manners => ({
  key: 'a-key-of-thirty-two-letters-0000',
  balance: 10,
  notReady: 1,
  refusesWith: null,
  busyFor: 0,
  failsWith: null,
  outages: 0,
  silent: 0,
  userAgent: null,
  price: '0.00299',
  solve: (task) => `token-for-${String(task.googlekey ?? task.sitekey ?? task.websiteKey ?? 'picture')}`,
});

/** What both services have behind their counters. */
class Booth {
  readonly manners = manners();
  readonly tasks: Readonly<Record<string, unknown>>[] = [];
  readonly reports: string[] = [];
  readonly questions: string[] = [];
  readonly known = new Map<string, Task>();
  readonly names: { readonly wrongKey: string };

  constructor(names: Booth['names']) {
    this.names = names;
  }

  /** True when the request was dealt with as a bad day has it. */
  isOff(response: ServerResponse): boolean {
    if (this.manners.silent > 0) {
      this.manners.silent -= 1;
      return true;
    }
    if (this.manners.outages > 0) {
      this.manners.outages -= 1;
      sendHtml(response, '<h1>503 Service Unavailable</h1>', 503);
      return true;
    }
    return false;
  }

  /** The code of what is wrong, or the new task. */
  take(key: unknown, order: Readonly<Record<string, unknown>>): string | Task {
    if (key !== this.manners.key) return this.names.wrongKey;
    if (this.manners.refusesWith !== null) return this.manners.refusesWith;
    if (this.manners.balance <= 0) return 'ERROR_ZERO_BALANCE';
    if (this.manners.busyFor > 0) {
      this.manners.busyFor -= 1;
      return 'ERROR_NO_SLOT_AVAILABLE';
    }
    this.tasks.push(order);
    const task = { id: String(70_000 + this.tasks.length), order, asked: 0 };
    this.known.set(task.id, task);
    return task;
  }
}

/** `in.php` and `res.php` as 2Captcha has them. */
export async function startTwoCaptcha(): Promise<SolverService> {
  const booth = new Booth({ wrongKey: 'ERROR_KEY_DOES_NOT_EXIST' });
  const say = (response: ServerResponse, status: 0 | 1, request: string, more: object = {}) =>
    sendJson(response, { status, request, ...more });

  const result = (id: string, response: ServerResponse, isPriced: boolean) => {
    const task = booth.known.get(id);
    if (task === undefined) return say(response, 0, 'ERROR_WRONG_CAPTCHA_ID');
    task.asked += 1;
    if (task.asked <= booth.manners.notReady) return say(response, 0, 'CAPCHA_NOT_READY');
    if (booth.manners.failsWith !== null) return say(response, 0, booth.manners.failsWith);
    const { userAgent, price } = booth.manners;
    say(response, 1, booth.manners.solve(task.order), {
      ...(userAgent === null ? {} : { useragent: userAgent }),
      ...(isPriced && price !== null ? { price } : {}),
    });
  };

  const url = await serving(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service');
    const fields = Object.fromEntries([...searchParams, ...new URLSearchParams(await bodyOf(request))]);
    const { key, json, ...order } = fields;
    const { action = '', id = '' } = order;
    booth.questions.push(pathname === '/in.php' ? 'in' : action);
    if (booth.isOff(response)) return;
    if (json !== '1') return sendHtml(response, 'ERROR_BAD_PARAMETERS');
    if (pathname === '/in.php') {
      const task = booth.take(key, order);
      return typeof task === 'string' ? say(response, 0, task) : say(response, 1, task.id);
    }
    if (pathname !== '/res.php') return sendHtml(response, 'Not found', 404);
    if (key !== booth.manners.key) return say(response, 0, 'ERROR_KEY_DOES_NOT_EXIST');
    switch (action) {
      case 'get':
        return result(id, response, false);
      case 'get2':
        if (booth.manners.price === null) return say(response, 0, 'ERROR_EMPTY_ACTION');
        return result(id, response, true);
      case 'getbalance':
        return say(response, 1, String(booth.manners.balance));
      case 'reportbad':
        booth.reports.push(id);
        return say(response, 1, 'OK_REPORT_RECORDED');
      default:
        return say(response, 0, 'ERROR_EMPTY_ACTION');
    }
  });
  return { url, ...shown(booth) };
}

const ERROR_IDS: Readonly<Record<string, number>> = {
  ERROR_KEY_DOES_NOT_EXIST: 1,
  ERROR_NO_SLOT_AVAILABLE: 2,
  ERROR_ZERO_BALANCE: 10,
  ERROR_IP_NOT_ALLOWED: 11,
  ERROR_CAPTCHA_UNSOLVABLE: 12,
  ERROR_NO_SUCH_METHOD: 14,
  ERROR_NO_SUCH_CAPCHA_ID: 16,
  ERROR_TASK_NOT_SUPPORTED: 23,
};

/** Serves the methods of Anti-Captcha. */
export async function startAntiCaptcha(): Promise<SolverService> {
  const booth = new Booth({ wrongKey: 'ERROR_KEY_DOES_NOT_EXIST' });
  const fail = (response: ServerResponse, code: string, key: unknown) =>
    sendJson(response, {
      errorId: ERROR_IDS[code] ?? 99,
      errorCode: code,
      // A service may repeat in a description what the request contained.
      errorDescription: `Something is wrong with ${String(key)}`,
    });

  const result = (id: string, response: ServerResponse, key: unknown) => {
    const task = booth.known.get(id);
    if (task === undefined) return fail(response, 'ERROR_NO_SUCH_CAPCHA_ID', key);
    task.asked += 1;
    if (task.asked <= booth.manners.notReady) return sendJson(response, { errorId: 0, status: 'processing' });
    if (booth.manners.failsWith !== null) return fail(response, booth.manners.failsWith, key);
    const token = booth.manners.solve(task.order);
    const { type } = task.order;
    const solution =
      type === 'ImageToTextTask'
        ? { text: token, url: 'http://127.0.0.1/1.jpg' }
        : type === 'TurnstileTaskProxyless'
          ? { token, userAgent: booth.manners.userAgent ?? '' }
          : { gRecaptchaResponse: token };
    sendJson(response, {
      errorId: 0,
      status: 'ready',
      solution,
      cost: booth.manners.price,
      ip: '127.0.0.1',
      createTime: 1,
      endTime: 2,
      solveCount: '0',
    });
  };

  const url = await serving(async (request: IncomingMessage, response: ServerResponse) => {
    const method = (request.url ?? '/').slice(1);
    const { clientKey, task: order, taskId } = JSON.parse(await bodyOf(request)) as Record<string, unknown>;
    booth.questions.push(method);
    if (booth.isOff(response)) return;
    if (method === 'createTask') {
      const task = booth.take(clientKey, order as Record<string, unknown>);
      if (typeof task === 'string') return fail(response, task, clientKey);
      return sendJson(response, { errorId: 0, taskId: Number(task.id) });
    }
    if (clientKey !== booth.manners.key) return fail(response, 'ERROR_KEY_DOES_NOT_EXIST', clientKey);
    // Anti-Captcha numbers its tasks, and accepts only a number as the id.
    const id = typeof taskId === 'number' ? String(taskId) : '';
    if (method === 'getTaskResult') return result(id, response, clientKey);
    if (method === 'getBalance') return sendJson(response, { errorId: 0, balance: booth.manners.balance });
    if (/^reportIncorrect(?:Recaptcha|Hcaptcha|ImageCaptcha)$/.test(method)) {
      booth.reports.push(id);
      return sendJson(response, { errorId: 0, status: 'success' });
    }
    return fail(response, 'ERROR_NO_SUCH_METHOD', clientKey);
  });
  return { url, ...shown(booth) };
}

function shown({ manners, tasks, reports, questions }: Booth): Omit<SolverService, 'url'> {
  return { manners, tasks, reports, questions };
}
