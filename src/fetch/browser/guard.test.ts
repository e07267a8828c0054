import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Resolve } from '../guard/guarded-lookup.ts';
import { startGuardProxy } from '../guard-proxy/guard-proxy.ts';
import { type Loopback, serve } from '../http/loopback.fixture.ts';
import { failureOf, lastingBrowser, render, testBrowser, textOf } from './browser.fixture.ts';

/** 127.0.0.1 plays the outside world; every other loopback address is the inside, which must not be reached. */
const OUTSIDE = '127.0.0.1';
let rebound = 0;
const resolve: Resolve = (host, done) => {
  const isTurning = host === 'turning.example';
  if (isTurning) rebound += 1;
  const isInside = host.startsWith('inside') || (isTurning && rebound > 1);
  done(null, [{ address: isInside ? '127.0.0.2' : OUTSIDE, family: 4 }]);
};
const { engine, runtime } = lastingBrowser({
  allowPrivate: (address) => address === OUTSIDE,
  resolve,
  maxBrowsers: 1,
  pagesAtOnce: 3,
});
afterAll(() => engine.close());

/** A server on the inside, of which only connections through 127.0.0.2 count: it cannot be told apart otherwise. */
async function inside(): Promise<Loopback & { readonly reached: () => number }> {
  let reached = 0;
  const { createServer } = await import('node:http');
  const server = createServer((_, response) => response.end('secret'));
  server.on('connection', () => {
    reached += 1;
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.2', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, origin: `http://127.0.0.2:${port}`, accepted: () => reached, reached: () => reached };
}

const html = (body: string) =>
  serve((_, response) => response.setHeader('content-type', 'text/html').end(`<!doctype html><body>${body}`));

describe('a page on the inside', () => {
  test.each([
    'http://127.0.0.2',
    'http://2130706434',
    'http://127.2',
    'http://inside.example',
    'https://127.0.0.2',
    'https://inside.example',
  ])('at %s is refused and never reached', async (origin) => {
    const secret = await inside();
    const failure = await failureOf(render(engine, `${origin}:${secret.port}/`));
    expect(failure.code).toBe('ADDRESS_REFUSED');
    expect(secret.reached()).toBe(0);
  });

  test.each(['http://localhost', 'http://[::1]', 'http://[::ffff:127.0.0.1]', 'http://0.0.0.0'])(
    'at %s is refused where nothing private is allowed',
    async (origin) => {
      const own = testBrowser({ allowPrivate: false, maxBrowsers: 1 });
      const site = await html('secret');
      expect((await failureOf(render(own.engine, `${origin}:${site.port}/`))).code).toBe('ADDRESS_REFUSED');
      expect(site.accepted()).toBe(0);
    },
    60_000,
  );

  test('under a name of this machine is not reached, whether the name resolves or not', async () => {
    const own = testBrowser({ allowPrivate: false, maxBrowsers: 1 });
    const site = await html('secret');
    const failure = await failureOf(render(own.engine, `http://a.localhost:${site.port}/`));
    expect(['ADDRESS_REFUSED', 'DNS_FAILED']).toContain(failure.code);
    expect(site.accepted()).toBe(0);
  });
});

test('a redirect to the inside is refused', async () => {
  const secret = await inside();
  const site = await serve((_, response) => response.writeHead(302, { location: secret.origin }).end());
  const failure = await failureOf(render(engine, `http://outside.example:${site.port}/`));
  expect(failure.code).toBe('ADDRESS_REFUSED');
  expect(secret.reached()).toBe(0);
});

describe('nothing that a page does reaches the inside:', () => {
  const ws = (port: number, scheme: string) =>
    `new Promise((done) => { const s = new WebSocket('${scheme}://127.0.0.2:${port}/'); s.onerror = () => done('failed'); s.onopen = () => done('open'); })`;
  const attempts: Readonly<Record<string, (port: number) => string>> = {
    fetch: (port) =>
      `fetch('http://127.0.0.2:${port}/', { mode: 'no-cors' }).then(() => 'open', () => 'failed')`,
    'fetch by name': (port) =>
      `fetch('http://inside.example:${port}/', { mode: 'no-cors' }).then(() => 'open', () => 'failed')`,
    'fetch over TLS': (port) =>
      `fetch('https://inside.example:${port}/', { mode: 'no-cors' }).then(() => 'open', () => 'failed')`,
    websocket: (port) => ws(port, 'ws'),
    'secure websocket': (port) => ws(port, 'wss'),
    'event source': (port) =>
      `new Promise((done) => { const s = new EventSource('http://127.0.0.2:${port}/'); s.onerror = () => done('failed'); s.onopen = () => done('open'); })`,
    image: (port) =>
      `new Promise((done) => { const i = new Image(); i.onerror = () => done('failed'); i.onload = () => done('open'); i.src = 'http://127.0.0.2:${port}/a.png'; })`,
    worker: (port) =>
      `new Promise((done) => { const w = new Worker(URL.createObjectURL(new Blob(["fetch('http://127.0.0.2:${port}/', { mode: 'no-cors' }).then(() => postMessage('open'), () => postMessage('failed'))"]))); w.onmessage = (e) => done(e.data); })`,
    beacon: (port) =>
      `(navigator.sendBeacon('http://127.0.0.2:${port}/', 'x'), fetch('http://127.0.0.2:${port}/', { mode: 'no-cors' }).catch(() => 'failed'))`,
    frame: (port) =>
      `new Promise((done) => { const f = document.createElement('iframe'); f.onload = () => { let d = null; try { d = f.contentDocument } catch {} done('failed') }; f.src = 'http://127.0.0.2:${port}/'; document.body.append(f); })`,
    'frame that redirects': (port) =>
      `new Promise((done) => { const f = document.createElement('iframe'); f.onload = () => done('failed'); f.src = '/to?' + encodeURIComponent('http://127.0.0.2:${port}/'); document.body.append(f); })`,
    'fetch that redirects': (port) =>
      `fetch('/to?' + encodeURIComponent('http://127.0.0.2:${port}/'), { mode: 'no-cors' }).then(() => 'open', () => 'failed')`,
    popup: (port) =>
      `(window.open('http://127.0.0.2:${port}/'), new Promise((done) => setTimeout(done, 500, 'failed')))`,
    preconnect: (port) =>
      `(document.head.innerHTML += '<link rel=preconnect href="http://127.0.0.2:${port}"><link rel=prefetch href="http://127.0.0.2:${port}/a">', new Promise((done) => setTimeout(done, 500, 'failed')))`,
  };

  test.each(Object.keys(attempts))('%s', async (name) => {
    const secret = await inside();
    const site = await serve((request, response) => {
      const target = /^\/to\?(.*)$/.exec(request.url ?? '')?.[1];
      if (target !== undefined) response.writeHead(302, { location: decodeURIComponent(target) }).end();
      else response.setHeader('content-type', 'text/html').end('<!doctype html><body>outside');
    });
    const script = attempts[name]?.(secret.port) ?? '';
    const response = await render(engine, `http://outside.example:${site.port}/`, {
      actions: [{ type: 'evaluate', script }],
    });
    expect(response.failure).toBeNull();
    expect(response.extra.actions[0]?.value).toBe('failed');
    expect(secret.reached()).toBe(0);
  });

  test('datagrams: WebRTC and WebTransport', async () => {
    const socket = createSocket('udp4');
    let received = 0;
    socket.on('message', () => {
      received += 1;
    });
    socket.bind(0, OUTSIDE);
    await once(socket, 'listening');
    onTestFinished(() => {
      socket.close();
    });
    const { port } = socket.address();
    const site = await html('');
    const script = `(async () => {
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:${OUTSIDE}:${port}' }] });
      peer.createDataChannel('x'); const found = [];
      peer.onicecandidate = (e) => e.candidate && found.push(e.candidate.candidate);
      await peer.setLocalDescription(await peer.createOffer());
      try { const t = new WebTransport('https://${OUTSIDE}:${port}/'); await Promise.race([t.ready, new Promise((d) => setTimeout(d, 800))]).catch(() => {}); } catch {}
      await new Promise((done) => setTimeout(done, 800)); return found; })()`;
    const response = await render(engine, `${site.origin}/`, { actions: [{ type: 'evaluate', script }] });
    expect(response.failure).toBeNull();
    expect(received).toBe(0);
  });
});

test('a name that changes its address after the check is connected to what was checked, or refused', async () => {
  rebound = 0;
  const secret = await inside();
  // Both sides have one port, so that only the address decides.
  const { createServer } = await import('node:http');
  const outside = createServer((_, response) => {
    response
      .setHeader('content-type', 'text/html')
      .setHeader('connection', 'close')
      .end('<!doctype html><body>outside');
  });
  await new Promise<void>((done) => outside.listen(secret.port, OUTSIDE, done));
  onTestFinished(() => {
    outside.closeAllConnections();
    outside.close();
  });
  const url = `http://turning.example:${secret.port}/`;
  const script =
    'new Promise((done) => setTimeout(done, 10500)).then(() => fetch("/again").then((r) => r.text(), () => "failed"))';
  const response = await render(engine, url, {
    timeoutMs: 25_000,
    actions: [{ type: 'evaluate', script, timeoutMs: 15_000 }],
  });
  expect(textOf(response)).toContain('outside');
  expect(rebound).toBeGreaterThan(1);
  expect(response.extra.actions[0]?.value).toBe('failed');
  expect(secret.reached()).toBe(0);
}, 60_000);

test('the way out is closed to whoever has no leave', async () => {
  const site = await html('x');
  await render(engine, `${site.origin}/`);
  const proxy = new URL(runtime.running?.proxy.url ?? '');
  const { request } = await import('node:http');
  const status = await new Promise((done) => {
    const asked = request({ host: proxy.hostname, port: proxy.port, path: `${site.origin}/` }, (answer) => {
      answer.resume();
      done(answer.statusCode);
    });
    asked.end();
  });
  expect(status).toBe(407);
});

describe('a browser that has forgotten which proxy is its own', () => {
  test('is refused in a way that no site can imitate, and stays known for it while others reach the same host', async () => {
    const proxy = await startGuardProxy({ allowPrivate: true });
    onTestFinished(() => proxy.close());
    const site = await serve((_, response) => {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="browser"', 'content-length': 0 }).end();
    });
    const ask = (by: string) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const { hostname, port } = new URL(by);
        httpRequest({ hostname, port, path: `${site.origin}/` }, resolve)
          .on('error', reject)
          .end();
      });
    const refused = await ask(proxy.url);
    expect(refused.statusCode).toBe(407);
    expect(proxy.isOwnChallenge(refused.headers)).toBe(true);
    const { username } = proxy.admit(null);
    const answered = await ask(await proxy.openListener(username));
    expect([answered.statusCode, proxy.isOwnChallenge(answered.headers)]).toEqual([407, false]);
    expect(proxy.wasUnauthorized(new URL(site.origin))).toBe(true);
    expect(proxy.wasUnauthorized(new URL('http://other.example/'))).toBe(false);
  });
});
