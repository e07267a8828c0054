import type { ReadableStream } from 'node:stream/web';
import type { Identity } from '../../model/identity.ts';
import type { Method } from '../http/redirect.ts';
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
  /** With login. Everything goes through it, names unresolved. */
  readonly proxyUrl: string;
  /** For the tunnel and TLS together. */
  readonly connectTimeoutMs: number;
  readonly idleMs: number;
  readonly trustsAnyCertificate: boolean;
}

/** Connections of one visitor. It sends exactly the headers it is given, follows no redirect and keeps no cookie. */
export interface HandshakeClient {
  /** Settles when the head of the response is there. What it throws is the library's. */
  send(request: SentRequest): Promise<Answer>;
  close(): Promise<void>;
}

export interface SentRequest {
  readonly url: string;
  readonly method: Method;
  readonly headers: HeaderList;
  readonly body: string | null;
  /** The library's own limit, beyond ours. */
  readonly timeoutMs: number;
  /** Ends the request, and the body after it. */
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly statusCode: number;
  /** Names in lower case; the same one may come again. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  /** As it came: the Content-Encoding is undone by the caller, under its limits. */
  readonly body: ReadableStream<Uint8Array> | null;
}

export type DriverLoader = () => Promise<HandshakeDriver>;

export function pairsOf(headers: HeaderList): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < headers.length; index += 2) {
    pairs.push([headers[index] ?? '', headers[index + 1] ?? '']);
  }
  return pairs;
}
