import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { selfSigned } from '../../src/fetch/http/self-signed.fixture.ts';
import { bodyOf } from '../solvers/local-server.ts';

/** A site with a login, on whose pages nothing of what it was told is shown. */
export interface LoginSite {
  readonly origin: string;
  /** Everything it was sent. */
  heard(): string;
  close(): Promise<void>;
}

/** What it gives its visitors to keep. */
export interface LoginGifts {
  readonly sessionCookie: string;
  readonly sessionStorage: string;
}

const INPUTS = '<input id=user name=user><input id=password name=password type=password>';
const FORM = `<form method=post action=/in>${INPUTS}<button>Go</button></form>`;
const WIDGET = '<div class=h-captcha data-sitekey=key-h></div><textarea name=h-captcha-response></textarea>';

export async function openLoginSite({ sessionCookie, sessionStorage }: LoginGifts): Promise<LoginSite> {
  let heard = '';
  // A script keeps it; no text of the page has it.
  const keep = `localStorage.kept = atob('${Buffer.from(sessionStorage).toString('base64')}')`;
  const pages: Readonly<Record<string, string>> = {
    '/inside': `<title>Inside</title><main id=inside>Welcome</main><script>${keep}</script>`,
    '/puzzle': `<form method=post action=/enter>${WIDGET}</form>`,
    '/enter': '<title>Open</title><main>What was behind the puzzle</main>',
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method, url = '', headers } = request;
    heard += `${method} ${url} ${JSON.stringify(headers)} ${await bodyOf(request)}\n`;
    if (url === '/in') {
      const cookie = `visit=${sessionCookie}; HttpOnly`;
      response.writeHead(303, { location: '/inside', 'set-cookie': cookie }).end();
      return;
    }
    const page = pages[url] ?? `<title>Log in</title><main><h1>Kettle</h1>${FORM}</main>`;
    response.writeHead(url === '/puzzle' ? 403 : 200, { 'content-type': 'text/html' }).end(page);
  };
  const server = createServer((request, response) => void answer(request, response));
  const port = await listening(server);
  return { origin: `http://127.0.0.1:${port}`, heard: () => heard, close: () => closed(server) };
}

export interface CredentialService {
  readonly url: string;
  /** File with its certificate. */
  readonly trusts: string;
  /** How often it was asked with the right token. */
  asked(): number;
  close(): Promise<void>;
}

export interface CredentialServiceOptions {
  readonly dir: string;
  readonly token: string;
  /** What it has under the name `remote`. */
  readonly credential: unknown;
}

/** A credential service behind TLS, which knows one name. */
export async function openCredentialService(options: CredentialServiceOptions): Promise<CredentialService> {
  const certificate = selfSigned();
  const trusts = join(options.dir, 'service.pem');
  await writeFile(trusts, certificate.cert);
  let asked = 0;
  const server = createHttpsServer(certificate, ({ url, headers }, response) => {
    const isOurs = headers.authorization === `Bearer ${options.token}`;
    if (isOurs) asked += 1;
    response.writeHead(!isOurs ? 401 : url === '/remote' ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(options.credential));
  });
  const url = `https://localhost:${await listening(server)}`;
  return { url, trusts, asked: () => asked, close: () => closed(server) };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
