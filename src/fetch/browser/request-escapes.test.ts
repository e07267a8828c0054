import { createServer, type IncomingMessage } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Resolve } from '../guard/guarded-lookup.ts';
import { serve } from '../http/loopback.fixture.ts';
import { render, type TestBrowser, testBrowser, textOf } from './browser.fixture.ts';
import { cdpPort } from './remote.fixture.ts';

/** 127.0.0.1 plays the outside world; every other loopback address is the inside, which must not be reached. */
const OUTSIDE = '127.0.0.1';
const resolve: Resolve = (host, done) =>
  done(null, [{ address: host.startsWith('inside') ? '127.0.0.2' : OUTSIDE, family: 4 }]);
const guarded = { allowPrivate: (address: string) => address === OUTSIDE, resolve, pagesAtOnce: 2 };

const PLACES: Readonly<Record<string, () => Promise<TestBrowser>>> = {
  'of our own': async () => testBrowser({ ...guarded, maxBrowsers: 1 }),
  'elsewhere that has its requests looked at': async () => {
    const { url } = await cdpPort();
    return testBrowser({ ...guarded, executablePath: null, remote: { url, guardBy: 'requests' } });
  },
};

/** What is documented to get past a look at each request. */
const UNGUARDED: Readonly<Record<string, readonly string[]>> = {
  'elsewhere that has its requests looked at': ['a socket of a worker'],
};

/** A server on the inside, with everything that it was asked for. */
async function inside(): Promise<{ origin: string; host: string; reached: string[] }> {
  const reached: string[] = [];
  const server = createServer((request, response) => {
    reached.push(request.url ?? '');
    response.setHeader('access-control-allow-origin', '*').end('secret');
  });
  // What cannot be read, such as a TLS greeting, counts as well.
  server.on('clientError', (_, socket) => {
    reached.push('bytes');
    socket.destroy();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.2', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const host = `127.0.0.2:${typeof address === 'object' ? address?.port : 0}`;
  return { host, origin: `http://${host}`, reached };
}

interface Attempt {
  readonly headers?: (secret: string) => Readonly<Record<string, string>>;
  readonly html?: (secret: string, port: number) => string;
}

const rules = (secret: string, kind: string) =>
  JSON.stringify({ [kind]: [{ source: 'list', urls: [`${secret}/${kind}`], eagerness: 'immediate' }] });
const script = (text: string) => `<script>${text}</script>`;

/** Ways in which a page has something asked for that is no part of it. */
const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  'speculation rules: prefetch': {
    html: (secret) => `<script type=speculationrules>${rules(secret, 'prefetch')}</script>`,
  },
  'speculation rules: prerender': {
    html: (secret) => `<script type=speculationrules>${rules(secret, 'prerender')}</script>`,
  },
  'speculation rules by header': { headers: () => ({ 'speculation-rules': '"/rules.json"' }) },
  'rules on the inside by header': {
    headers: (secret) => ({ 'speculation-rules': `"${secret}/rules.json"` }),
  },
  'links by header': {
    headers: (secret) => ({ link: `<${secret}/early>; rel=preload; as=script, <${secret}>; rel=preconnect` }),
  },
  links: {
    html: (secret) =>
      [
        'prefetch',
        'preload as=fetch',
        'modulepreload',
        'prerender',
        'icon',
        'manifest',
        'preconnect',
        'dns-prefetch',
      ]
        .map((rel) => `<link rel=${rel} href="${secret}/${rel}">`)
        .join(''),
  },
  'reports of a content security policy': {
    headers: (secret) => ({
      'content-security-policy-report-only': `img-src 'none'; report-uri ${secret}/csp; report-to there`,
      'reporting-endpoints': `there="${secret}/reports"`,
      nel: '{"report_to":"there","max_age":1000,"success_fraction":1}',
    }),
    html: () => '<img src=/picture>',
  },
  'a payment method': {
    html: (secret) =>
      script(
        `try { new PaymentRequest([{ supportedMethods: '${secret}/pay' }], { total: { label: 'x', amount: { currency: 'EUR', value: '1' } } }).canMakePayment().catch(() => {}) } catch {}`,
      ),
  },
  'a federated log-in': {
    html: (secret) =>
      script(
        `navigator.credentials?.get({ identity: { providers: [{ configURL: '${secret}/fedcm.json', clientId: '1' }] } }).catch(() => {})`,
      ),
  },
  'a shared worker': {
    html: (secret) =>
      script(
        `new SharedWorker('data:text/javascript,fetch("${secret}/shared").catch(() => {})'); new SharedWorker(URL.createObjectURL(new Blob(['fetch("${secret}/shared-blob").catch(() => {})'])))`,
      ),
  },
  'a frame of another site': {
    html: (secret, port) =>
      `<iframe src="http://localhost:${port}/frame?${encodeURIComponent(secret)}"></iframe>`,
  },
  'a window': { html: (secret) => script(`window.open('${secret}/window')`) },
  'a relay of WebRTC': {
    html: (secret) =>
      script(
        `const peer = new RTCPeerConnection({ iceServers: [{ urls: 'turn:${secret.slice(7)}?transport=tcp', username: 'u', credential: 'c' }] }); peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer))`,
      ),
  },
  'a socket of a worker': {
    html: (secret) =>
      script(
        `new Worker(URL.createObjectURL(new Blob(["new WebSocket('ws://${secret.slice(7)}/worker-socket')"])))`,
      ),
  },
};

const page = (body: string) => `<!doctype html><title>t</title><body>${body}<p>shown`;

describe.each(Object.keys(PLACES))('a page in a browser %s does not reach the inside by', (place) => {
  test('anything that is no part of it', async () => {
    const browser = await PLACES[place]?.();
    const secret = await inside();
    const asked: IncomingMessage[] = [];
    const site = await serve((request, response) => {
      asked.push(request);
      const url = new URL(request.url ?? '', 'http://x.example');
      const attempt = ATTEMPTS[decodeURIComponent(url.pathname.slice(1))];
      if (url.pathname === '/rules.json') {
        response
          .setHeader('content-type', 'application/speculationrules+json')
          .end(rules(secret.origin, 'prefetch'));
      } else if (url.pathname === '/frame') {
        response
          .setHeader('content-type', 'text/html')
          .end(page(script(`fetch('${decodeURIComponent(url.search.slice(1))}/framed').catch(() => {})`)));
      } else {
        const headers = attempt?.headers?.(secret.origin) ?? {};
        const body = attempt?.html?.(secret.origin, site.port) ?? '';
        response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(page(body));
      }
    });
    const reached: Record<string, string[]> = {};
    for (const name of Object.keys(ATTEMPTS)) {
      const url = `${site.origin}/${encodeURIComponent(name)}`;
      const response = await render(browser?.engine as never, url, { wait: { ms: 700 } });
      expect(textOf(response)).toContain('shown');
      if (secret.reached.length > 0) reached[name] = secret.reached.splice(0);
    }
    expect(Object.keys(reached)).toEqual(UNGUARDED[place] ?? []);
  }, 120_000);
});
