import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { onTestFinished } from 'vitest';
import type { Identity } from '../../core/model/identity.ts';
import { type Loopback, listen } from '../http/loopback.fixture.ts';
import { selfSigned } from '../http/self-signed.fixture.ts';
import type { DriverLoader } from './handshake-clients.ts';
import { createWebEngine, type ImpersonatingEngine, type WebEngineOptions } from './impersonating-engine.ts';

const CHROME = 156;
const UA = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${CHROME}.0.0.0 Safari/537.36`;
const brands = [
  { brand: 'Chromium', version: String(CHROME) },
  { brand: 'Google Chrome', version: String(CHROME) },
];

export const IDENTITY: Identity = {
  kind: 'browser',
  region: 'de',
  userAgent: UA,
  clientHints: {
    brands,
    fullVersionList: brands,
    fullVersion: `${CHROME}.0.1.2`,
    platform: 'Windows',
    platformVersion: '15.0.0',
    architecture: 'x86',
    bitness: '64',
    model: '',
    mobile: false,
    wow64: false,
  },
  platform: 'Win32',
  screen: {
    width: 1920,
    height: 1080,
    availWidth: 1920,
    availHeight: 1040,
    colorDepth: 24,
    devicePixelRatio: 1,
  },
  viewport: { width: 1920, height: 940 },
  timeZone: 'Europe/Berlin',
  geolocation: { latitude: 52.5, longitude: 13.4, accuracy: 30 },
  languages: ['de-DE', 'de'],
  acceptLanguage: 'de-DE,de;q=0.9',
  hardwareConcurrency: 8,
  deviceMemory: 8,
  maxTouchPoints: 0,
  videoCard: { vendor: 'Google Inc.', renderer: 'ANGLE' },
  headers: [
    ['sec-ch-ua', `"Chromium";v="${CHROME}", "Google Chrome";v="${CHROME}"`],
    ['sec-ch-ua-mobile', '?0'],
    ['sec-ch-ua-platform', '"Windows"'],
    ['upgrade-insecure-requests', '1'],
    ['user-agent', UA],
    ['accept', 'text/html,*/*;q=0.8'],
    ['sec-fetch-site', 'none'],
    ['sec-fetch-mode', 'navigate'],
    ['sec-fetch-user', '?1'],
    ['sec-fetch-dest', 'document'],
    ['accept-encoding', 'gzip, deflate, br, zstd'],
    ['accept-language', 'de-DE,de;q=0.9'],
    ['priority', 'u=0, i'],
  ],
};

/** As on a platform for which wreq-js has no binary. */
export const noDriver: DriverLoader = () => Promise.reject(new Error('no binary'));

/** Every name stands for loopback, the only private address that may be fetched. No certificate is asked for. */
export function engineWith(
  loadDriver: DriverLoader,
  more: Partial<WebEngineOptions> = {},
): ImpersonatingEngine {
  const engine = createWebEngine({
    userAgent: 'TestBot/1',
    allowPrivate: (address) => address === '127.0.0.1',
    resolve: (_host, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    tls: { rejectUnauthorized: false },
    loadDriver,
    ...more,
  });
  onTestFinished(() => engine.close());
  return engine;
}

/** HTTP/2 for those who ask for it, HTTP/1.1 for others. */
export function serveSecure(
  listener: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
): Promise<Loopback> {
  const server = createSecureServer({ ...selfSigned(), allowHTTP1: true }, listener);
  server.on('sessionError', () => {});
  return listen(server, 'https');
}
