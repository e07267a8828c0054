import type { EmulationOS } from 'wreq-js';
import type { Identity } from '../../core/model/identity.ts';
import { type HandshakeClient, type HandshakeDriver, pairsOf } from './handshake-driver.ts';

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
        browser: profileFor(profiles, identity),
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

/** The profile of the browser that the identity claims to be, in the version next to its own. */
export function profileFor<Name extends string>(
  names: readonly Name[],
  identity: Identity,
): Name | 'chrome' | 'firefox' | 'safari' {
  const { family, userAgent } = identity;
  if (family === undefined) return nearestProfile(names, chromeVersionOf(identity)) ?? 'chrome';
  const told = /(?:Firefox|Version)\/(\d+(?:\.\d+)?)/.exec(userAgent)?.[1] ?? '0';
  return nearestProfile(names, Number(told), family) ?? family;
}

/** The version of Chrome that the identity claims to be. */
export function chromeVersionOf({ clientHints, userAgent }: Identity): number {
  const told = /(?:Chrome|Chromium)\/(\d+)/.exec(userAgent)?.[1] ?? clientHints.fullVersion;
  return Number.parseInt(told, 10) || 0;
}

/**
 * The profile of the version next to this one, the older of two that are equally far: handshakes change rarely, so
 * the nearest is most often the same. Null when no name ends in a version.
 */
export function nearestProfile<Name extends string>(
  names: readonly Name[],
  version: number,
  family = 'chrome',
): Name | null {
  let nearest: Name | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const [, of, told] = /^([a-z]+)_?(\d+(?:\.\d+)?)$/.exec(name) ?? [];
    if (of !== family || told === undefined) continue;
    const own = Number(told);
    // Half a step more for newer ones breaks ties.
    const distance = own > version ? own - version + 0.5 : version - own;
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}
