import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A site whose pages below `/private/` are for visitors who have logged in. */
export interface GuardedSite {
  readonly origin: string;
  readonly host: string;
  /** Method, path and body of every request, robots.txt aside. */
  readonly heard: readonly string[];
  /** Ends all log-ins, as a site does after a while. */
  logOut(): void;
  close(): Promise<void>;
}

export const USER = 'ann@example.com';
export const PASSWORD = 'correct horse & battery';
export const PRIVATE_PAGES = 7;

const page = (title: string, body: string) =>
  `<!doctype html><html lang=en><title>${title}</title><h1>${title}</h1><p>${'Some words of this page. '.repeat(20)}</p>${body}`;

const SCRIPTED = `<!doctype html><title>Sign in</title><div id=root></div><script>
  root.innerHTML = '<input id=mail><input id=word type=password><button id=go>Sign in</button>';
  go.onclick = async () => {
    const body = new URLSearchParams({ user: mail.value, secret: word.value, token: 'none' });
    await fetch('/scripted-session', { method: 'POST', body });
    location = '/private/';
  };</script>`;

export async function startGuardedSite(): Promise<GuardedSite> {
  const heard: string[] = [];
  const visitors = new Set<string>();
  const tokens = new Set<string>();

  function logInForm(note: string): string {
    const token = randomUUID();
    tokens.add(token);
    return page(
      'Log in',
      `<p>${note}</p><form method=post action=/session><input type=hidden name=token value="${token}">
       <input name=user type=email><input name=secret type=password><button name=go value=1>Log in</button></form>
       <p><a href="/">Home</a></p>`,
    );
  }

  function admit(response: ServerResponse): void {
    const visitor = randomUUID();
    visitors.add(visitor);
    response.setHeader('set-cookie', `visitor=${visitor}; Path=/; HttpOnly`);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    if (pathname === '/robots.txt' || pathname === '/favicon.ico') return void response.writeHead(404).end();
    const body = await text(request);
    heard.push(`${request.method} ${pathname} ${body}`);
    const form = new URLSearchParams(body);
    const isRight = form.get('user') === USER && form.get('secret') === PASSWORD;
    const isKnown = visitors.has(/visitor=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '');
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (pathname === '/login') response.end(logInForm('Welcome back.'));
    else if (pathname === '/scripted-login') response.end(SCRIPTED);
    else if (pathname === '/session' && isRight && tokens.delete(form.get('token') ?? '')) {
      admit(response);
      response.writeHead(302, { location: '/private/' }).end();
    } else if (pathname === '/session') response.end(logInForm('That was not right.'));
    else if (pathname === '/scripted-session') {
      if (isRight) admit(response);
      response.end('{}');
    } else if (pathname.startsWith('/private/') && !isKnown) {
      response.writeHead(302, { location: '/login' }).end();
    } else if (pathname.startsWith('/private/')) {
      const links = Array.from(
        { length: PRIVATE_PAGES - 1 },
        (_, n) => `<a href="/private/${n + 1}">${n + 1}</a>`,
      );
      response.end(page(`Secret ${pathname}`, links.join(' ')));
    } else response.end(page('Home', '<a href="/private/">Members</a>'));
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin: `http://${host}`,
    host,
    heard,
    logOut: () => visitors.clear(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
