import { createServer } from 'node:http';
import { greetSocket } from '../site/websocket.ts';

/** Each makes a message of more than 512 MB, which no string can hold, for the library that drives the browser. */
export const KILLERS: Readonly<Record<string, string>> = {
  '/kill/console': `console.error('\\u0001'.repeat(100e6))`,
  '/kill/promise': `Promise.reject('\\u0001'.repeat(100e6))`,
  '/kill/post': `fetch('/taken', { method: 'POST', body: '\\u0001'.repeat(110e6) }).catch(() => {})`,
  '/kill/socket': `const socket = new WebSocket('ws://' + location.host + '/socket');
    socket.onopen = () => socket.send('\\u0001'.repeat(100e6))`,
};

export interface KillerSite {
  readonly origin: string;
  /** Ends the responses to `/held`, which wait until then. */
  readonly held: readonly (() => void)[];
  close(): Promise<void>;
}

/**
 * Pages that are empty without their script, so that plain HTTP hands them on to the browser. The scripts of KILLERS
 * attack the process that drives it; every other page is harmless.
 */
export async function startKillerSite(): Promise<KillerSite> {
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site.example');
    if (pathname === '/robots.txt') response.writeHead(404).end();
    else if (pathname === '/taken') request.resume().on('end', () => response.end());
    else if (pathname === '/held') held.push(() => response.end());
    else {
      const text = 'words that a script has written '.repeat(20);
      const picture = pathname === '/waits' ? '<img src="/held">' : '';
      response.setHeader('content-type', 'text/html');
      response.end(
        `<!doctype html><title>shell</title><div id="root"></div>${picture}` +
          '<noscript>You need to enable JavaScript to run this app.</noscript>' +
          `<script>${KILLERS[pathname] ?? ''};document.querySelector('#root').innerHTML = ` +
          `'<p>${text}${pathname}</p>'</script>`,
      );
    }
  });
  server.on('upgrade', (request, socket) => greetSocket(request, socket, 'hello'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    origin: `http://127.0.0.1:${port}`,
    held,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
