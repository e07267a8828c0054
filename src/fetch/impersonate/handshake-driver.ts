import type { ReadableStream } from 'node:stream/web';
import type { EmulationOS } from 'wreq-js';
import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Identity } from '../../core/model/identity.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import type { Method } from '../http/redirects.ts';
import type { HeaderList } from '../http/request-headers.ts';

/** What speaks TLS and HTTP/2 the way a browser does; `plain` does not. */
export type Handshake = 'wreq' | 'plain';

/** A library that greets servers as a browser would. It decides nothing else: see HandshakeClient. */
export interface HandshakeDriver {
  readonly handshake: Exclude<Handshake, 'plain'>;
  open(plan: ClientPlan): Promise<HandshakeClient>;
}

export interface ClientPlan {
  /** Whose handshake it is: the profile nearest to this browser's version. */
  readonly identity: Identity;
  /** The proxy with its login. Everything goes through it, names unresolved. */
  readonly proxyUrl: string;
  /** For the tunnel and TLS together. */
  readonly connectTimeoutMs: number;
  readonly idleMs: number;
  readonly trustsAnyCertificate: boolean;
}

/** Connections of one visitor. It sends exactly the headers it is given, follows no redirect and keeps no cookie. */
export interface HandshakeClient {
  /** Settles when the head of the response is there. What it throws is the library's. */
  send(request: SentRequest): Promise<DriverResponse>;
  close(): Promise<void>;
}

interface SentRequest {
  readonly url: string;
  readonly method: Method;
  readonly headers: HeaderList;
  readonly body: string | null;
  /** The library's own limit, beyond ours. */
  readonly timeoutMs: number;
  /** Ends the request, and the body after it. */
  readonly signal: AbortSignal;
}

export interface DriverResponse {
  readonly statusCode: number;
  /** Names in lower case; the same one may come again. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  /** As it came: the Content-Encoding is undone by the caller, under its limits. */
  readonly body: ReadableStream<Uint8Array> | null;
}

export type DriverLoader = () => Promise<HandshakeDriver>;

function pairsOf(headers: HeaderList): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < headers.length; index += 2) {
    pairs.push([headers[index] ?? '', headers[index + 1] ?? '']);
  }
  return pairs;
}

/**
 * What the words of the libraries mean to us; the first match decides. They tell no codes. Whether the host could be
 * reached is not among them: that the guard knows, so a failure to connect is one of TLS.
 */
const SIGNS: readonly (readonly [RegExp, ErrorCode])[] = [
  [/ProxyConnect|ProxyTunnel|ProxyAuth|tunnel error/, 'CONNECT_FAILED'],
  [/\(Connect\)|\bConnect,|ConnectError|ConnectTimeout|CERTIFICATE|InvalidCertificate/, 'TLS_FAILED'],
  [/head is too large|TooLarge/, 'HEADERS_LIMIT_EXCEEDED'],
  [/stream error|Reset\(/, 'CONNECTION_RESET'],
  [/Parse\(|\bparsed\b|[Ii]nvalid chunk|http2 error|Http2/, 'PROTOCOL_ERROR'],
  [/timed out|TimeoutError/, 'HEADERS_TIMEOUT'],
  [/hyper|from connection|closed|broken pipe|reset|\beof\b/i, 'CONNECTION_RESET'],
  [/\bDecode\b|decod/, 'BAD_ENCODING'],
];

/** Names what a library threw on a request to `url`. Its words hold the whole URL, so none of them is passed on. */
export function mapDriverError(error: unknown, url: URL, proxy: ProxyEndpoint | undefined): ScrapifieError {
  if (isScrapifieError(error)) return error;
  const text = error instanceof Error ? `${error.name} ${error.message}` : String(error);
  const code = SIGNS.find(([sign]) => sign.test(text))?.[1] ?? 'CONNECTION_RESET';
  const meaning = ERRORS[code].meaning.replace(/\.$/, '');
  if (code !== 'TLS_FAILED' || proxy === undefined) {
    return new ScrapifieError(code, `${meaning} (${url.host})`);
  }
  // A proxy that meddles, and a target with a bad certificate, look the same from here.
  return new ScrapifieError(code, `${meaning} (${url.host}, proxy ${proxy.id})`, {
    details: { proxy: proxy.id, fault: 'unclear' },
  });
}

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
