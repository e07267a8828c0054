import type { ReadableStream } from 'node:stream/web';
import type { Browser } from 'impit';
import { type HandshakeClient, type HandshakeDriver, pairsOf } from './handshake-driver.ts';
import { chromeVersionOf, nearestProfile } from './nearest-profile.ts';

/** Those that greet as Chrome does, with values that mean nothing in between; the one without a number does not. */
const PROFILES: readonly Browser[] = [
  'chrome124',
  'chrome125',
  'chrome131',
  'chrome136',
  'chrome142',
  'chrome151',
];
/** What a profile sends unless told otherwise; an empty value tells it to send nothing. */
const PROFILE_HEADERS = [
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'upgrade-insecure-requests',
  'user-agent',
  'accept',
  'sec-fetch-site',
  'sec-fetch-mode',
  'sec-fetch-user',
  'sec-fetch-dest',
  'accept-encoding',
  'accept-language',
  'priority',
];

/** Loads impit. Throws where it has no binary. */
export async function loadImpit(): Promise<HandshakeDriver> {
  const { Impit } = await import('impit');
  return {
    handshake: 'impit',
    async open({ identity, proxyUrl, trustsAnyCertificate }) {
      const impit = new Impit({
        browser: nearestProfile(PROFILES, chromeVersionOf(identity)) ?? 'chrome151',
        proxyUrl,
        followRedirects: false,
        ignoreTlsErrors: trustsAnyCertificate,
      });
      const client: HandshakeClient = {
        async send({ url, method, headers, body, timeoutMs, signal }) {
          const pairs = pairsOf(headers);
          const given = new Set(pairs.map(([name]) => name));
          const unwanted = PROFILE_HEADERS.filter((name) => !given.has(name));
          const response = await impit.fetch(url, {
            method,
            headers: [...pairs, ...unwanted.map((name): [string, string] => [name, ''])],
            // As bytes, because text would be given a type of its own.
            ...(body === null ? {} : { body: Buffer.from(body) }),
            timeout: timeoutMs,
            signal,
            redirect: 'manual',
          });
          return {
            statusCode: response.status,
            headers: response.headers,
            body: response.body as ReadableStream<Uint8Array> | null,
            isDecoded: true,
          };
        },
        // It has no word for it: its connections end with its leave at the guard, the rest is collected.
        async close() {},
      };
      return client;
    },
  };
}
