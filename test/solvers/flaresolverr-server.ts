import { setTimeout as pause } from 'node:timers/promises';
import { request as fetchUrl } from 'undici';
import { bodyOf, sendHtml, sendJson, serving } from './local-server.ts';

/** A service that speaks FlareSolverr's `/v1` as its version 3 does, with plain HTTP where that has a browser. */
export interface FlareSolverrServer {
  readonly url: string;
  /** Commands as they came, in order. */
  readonly commands: readonly Command[];
  /** Ids of the sessions there are. */
  readonly sessions: () => readonly string[];
  /** Requests that met another one in the browser of their session. The real one mixes their pages up. */
  readonly collisions: () => number;
  /** Forgets every session, as a restart does. */
  restart(): void;
  /** What it answers to the next request for a page instead of opening one. */
  nextError: string | null;
  /** Replaces every answer, as a gateway before it would. */
  outage: { readonly status: number; readonly text: string } | null;
  /** Until this is settled, pages are not opened. */
  gate: Promise<void>;
}

export interface Command {
  readonly cmd?: string;
  readonly url?: string;
  readonly session?: string;
  readonly maxTimeout?: number;
  readonly cookies?: readonly Cookie[];
  readonly proxy?: { readonly url: string; readonly username?: string; readonly password?: string };
  readonly postData?: string;
  readonly waitInSeconds?: number;
  readonly headers?: unknown;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain?: string;
  readonly path?: string;
}

interface Browser {
  readonly proxy: Command['proxy'];
  /** `host name` → value. */
  readonly cookies: Map<string, string>;
  isBusy: boolean;
  hasEnded: boolean;
}

interface Shown {
  readonly url: URL;
  readonly html: string;
}

class Failure extends Error {}

export async function startFlareSolverr(): Promise<FlareSolverrServer> {
  const commands: Command[] = [];
  const browsers = new Map<string, Browser>();
  let collisions = 0;

  const create = (id: string, proxy: Command['proxy']): [Browser, boolean] => {
    const known = browsers.get(id);
    if (known !== undefined) return [known, false];
    const browser = { proxy, cookies: new Map<string, string>(), isBusy: false, hasEnded: false };
    browsers.set(id, browser);
    return [browser, true];
  };

  const open = async (command: Command, method: 'GET' | 'POST') => {
    const { url, postData, maxTimeout = 60_000 } = command;
    if (url === undefined)
      throw new Failure("Request parameter 'url' is mandatory in 'request.get' command.");
    if (method === 'POST' && postData === undefined) {
      throw new Failure("Request parameter 'postData' is mandatory in 'request.post' command.");
    }
    // As the real one: a session that is not there is made, and the proxy of the request plays no part.
    const [browser] = create(command.session ?? `temporary-${commands.length}`, undefined);
    if (browser.isBusy) collisions += 1;
    browser.isBusy = true;
    try {
      const timeout = Symbol('timeout');
      const ended = pause(maxTimeout, timeout, { ref: false });
      const shown = await Promise.race([solve(browser, new URL(url), command, method), ended]);
      if (typeof shown === 'symbol') {
        throw new Failure(
          `Error solving the challenge. Timeout after ${(maxTimeout / 1_000).toFixed(1)} seconds.`,
        );
      }
      return shown;
    } finally {
      browser.isBusy = false;
    }
  };

  const solve = async (browser: Browser, url: URL, command: Command, method: 'GET' | 'POST') => {
    await server.gate;
    if (server.nextError !== null) {
      const said = server.nextError;
      server.nextError = null;
      throw new Failure(`Error solving the challenge. ${said}`);
    }
    const body = method === 'POST' ? formSubmitted(command.postData ?? '') : null;
    let shown = await load(browser, url, body);
    if ((command.cookies ?? []).length > 0) {
      for (const { name, value, domain } of command.cookies ?? []) {
        if (domain !== undefined && domain.replace(/^\./, '') !== shown.url.hostname) {
          throw new Failure('Error solving the challenge. Message: invalid cookie domain\\n  (Session info)');
        }
        browser.cookies.set(`${shown.url.hostname} ${name}`, value);
      }
      shown = await load(browser, url, body);
    }
    if (titleOf(shown.html).startsWith('Access denied')) {
      throw new Failure(
        'Error solving the challenge. Cloudflare has blocked this request. Probably your IP is banned for this site, check in your web browser.',
      );
    }
    let message = 'Challenge not detected!';
    while (titleOf(shown.html) === 'Just a moment...') {
      message = 'Challenge solved!';
      await load(browser, new URL('/cdn-cgi/clear', shown.url), null);
      shown = await load(browser, shown.url, body);
      await pause(20);
      if (browser.hasEnded) throw new Failure('Error solving the challenge. Message: invalid session id\\n');
    }
    if (command.waitInSeconds !== undefined) await pause(command.waitInSeconds * 1_000);
    return {
      message,
      solution: {
        url: shown.url.href,
        status: 200,
        cookies: [...browser.cookies]
          .filter(([key]) => key.startsWith(`${shown.url.hostname} `))
          .map(([key, value]) => ({
            domain: shown.url.hostname,
            httpOnly: false,
            name: key.slice(key.indexOf(' ') + 1),
            path: '/',
            sameSite: 'Lax',
            secure: false,
            value,
          })),
        userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0',
        headers: {},
        response: shown.html,
        turnstile_token: null,
      },
    };
  };

  const answer = async (command: Command): Promise<object> => {
    switch (command.cmd) {
      case 'sessions.create': {
        const [, isFresh] = create(command.session ?? `made-${commands.length}`, command.proxy);
        const message = isFresh ? 'Session created successfully.' : 'Session already exists.';
        return { status: 'ok', message, session: command.session };
      }
      case 'sessions.list':
        return { status: 'ok', message: '', sessions: [...browsers.keys()] };
      case 'sessions.destroy': {
        const browser = browsers.get(command.session ?? '');
        if (browser === undefined) throw new Failure("The session doesn't exist.");
        browser.hasEnded = true;
        browsers.delete(command.session ?? '');
        return { status: 'ok', message: 'The session has been removed.' };
      }
      case 'request.get':
        return { status: 'ok', ...(await open(command, 'GET')) };
      case 'request.post':
        return { status: 'ok', ...(await open(command, 'POST')) };
      default:
        throw new Failure(`Request parameter 'cmd' = '${command.cmd}' is invalid.`);
    }
  };

  const origin = await serving(async (request, response) => {
    const text = await bodyOf(request);
    if (server.outage !== null) {
      sendHtml(response, server.outage.text, server.outage.status);
      return;
    }
    if (request.url !== '/v1' || request.method !== 'POST') {
      sendJson(response, { error: 'Not found', status_code: 404 }, 404);
      return;
    }
    const command = JSON.parse(text) as Command;
    commands.push(command);
    const startTimestamp = Date.now();
    const stamp = () => ({ startTimestamp, endTimestamp: Date.now(), version: '3.5.0' });
    try {
      sendJson(response, { ...(await answer(command)), ...stamp() });
    } catch (error) {
      const said =
        error instanceof Failure ? error.message : `Error solving the challenge. Message: ${String(error)}`;
      sendJson(response, { status: 'error', message: `Error: ${said}`, ...stamp() }, 500);
    }
  });

  const server: FlareSolverrServer = {
    url: `${origin}/v1`,
    commands,
    sessions: () => [...browsers.keys()],
    collisions: () => collisions,
    restart: () => browsers.clear(),
    nextError: null,
    outage: null,
    gate: Promise.resolve(),
  };
  return server;
}

/** One document with its redirects, with the cookies of the browser. */
async function load(browser: Browser, from: URL, body: string | null): Promise<Shown> {
  let url = from;
  let posted = body;
  for (let hops = 0; hops < 10; hops += 1) {
    const prefix = `${url.hostname} `;
    const cookie = [...browser.cookies]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => `${key.slice(prefix.length)}=${value}`)
      .join('; ');
    const answer = await fetchUrl(url, {
      method: posted === null ? 'GET' : 'POST',
      headers: {
        ...(cookie === '' ? {} : { cookie }),
        ...(posted === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body: posted,
    }).catch((error: NodeJS.ErrnoException) => {
      const name = error.code === 'ECONNREFUSED' ? 'ERR_CONNECTION_REFUSED' : 'ERR_NAME_NOT_RESOLVED';
      throw new Failure(
        `Error solving the challenge. Message: unknown error: net::${name}\\n  (Session info)`,
      );
    });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [pair = ''] = line.split(';');
      const [name = '', value = ''] = pair.split('=');
      if (/max-age=0/i.test(line)) browser.cookies.delete(prefix + name);
      else browser.cookies.set(prefix + name, value);
    }
    const html = await answer.body.text();
    const { location } = answer.headers;
    if (answer.statusCode < 300 || answer.statusCode > 399 || typeof location !== 'string')
      return { url, html };
    url = new URL(location, url);
    posted = null;
  }
  throw new Failure('Error solving the challenge. Message: unknown error: net::ERR_TOO_MANY_REDIRECTS\\n');
}

/**
 * Does what FlareSolverr does: it unquotes names and values, which leaves a plus as it is, and has a form submit
 * them, which encodes the plus.
 */
function formSubmitted(postData: string): string {
  const form = new URLSearchParams();
  for (const pair of postData.replace(/^\?/, '').split('&')) {
    const [name = '', value = ''] = pair.split('=');
    if (decodeURIComponent(name) !== 'submit')
      form.append(decodeURIComponent(name), decodeURIComponent(value));
  }
  return form.toString();
}

function titleOf(html: string): string {
  return /<title>([^<]*)<\/title>/.exec(html)?.[1] ?? '';
}
