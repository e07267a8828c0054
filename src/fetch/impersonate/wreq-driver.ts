import type { EmulationOS } from 'wreq-js';
import { type HandshakeClient, type HandshakeDriver, pairsOf } from './handshake-driver.ts';
import { chromeVersionOf, nearestProfile } from './nearest-profile.ts';

const SYSTEMS: Readonly<Record<string, EmulationOS>> = { Windows: 'windows', macOS: 'macos', Linux: 'linux' };
const MAX_CONNECTIONS = 64;

/** Loads wreq-js. Throws where it has no binary. */
export async function loadWreq(): Promise<HandshakeDriver> {
  const { createTransport, fetch, getProfiles } = await import('wreq-js');
  // The binary is needed for this, so that one that is missing shows here.
  const profiles = getProfiles();

  return {
    handshake: 'wreq',
    async open({ identity, proxyUrl, connectTimeoutMs, idleMs, trustsAnyCertificate }) {
      const transport = await createTransport({
        browser: nearestProfile(profiles, chromeVersionOf(identity)) ?? 'chrome',
        os: SYSTEMS[identity.clientHints.platform] ?? 'windows',
        proxy: proxyUrl,
        connectTimeout: connectTimeoutMs,
        poolIdleTimeout: idleMs,
        poolMaxSize: MAX_CONNECTIONS,
        insecure: trustsAnyCertificate,
      });
      const client: HandshakeClient = {
        async send({ url, method, headers, body, timeoutMs, signal }) {
          const response = await fetch(url, {
            transport,
            method,
            headers: pairsOf(headers),
            body,
            signal,
            timeout: timeoutMs,
            redirect: 'manual',
            // The identity's headers are all there is, and bodies are decoded under our limits.
            disableDefaultHeaders: true,
            compress: false,
          });
          return {
            statusCode: response.status,
            headers: response.headers,
            body: response.body,
          };
        },
        close: () => transport.close(),
      };
      return client;
    },
  };
}
