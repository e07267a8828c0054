import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type Certificate, selfSigned } from '../../src/fetch/http/self-signed.fixture.ts';
import { listening } from './listening.ts';

export interface TargetSite {
  readonly port: number;
  readonly certificate: Certificate | null;
  /** The address that each request came from, in order. */
  readonly visitors: readonly string[];
  /** The Cookie header of each. */
  readonly cookies: readonly string[];
  /** Headers of the latest request. */
  readonly headers: () => Readonly<Record<string, string | string[] | undefined>>;
  /** Answers 403 to this address from now on. */
  ban(address: string): void;
  /** Answers 503 to everybody until told otherwise. */
  isDown: boolean;
}

/** A site that tells its visitors by address, and shows each the one it came from. */
export async function startSite({ isSecure = false } = {}): Promise<TargetSite> {
  const visitors: string[] = [];
  const cookies: string[] = [];
  const banned = new Set<string>();
  let headers = {};
  const listener: RequestListener = (request, response) => {
    const visitor = request.socket.remoteAddress ?? '';
    visitors.push(visitor);
    cookies.push(request.headers.cookie ?? '');
    headers = request.headers;
    response.statusCode = site.isDown ? 503 : banned.has(visitor) ? 403 : 200;
    response.end(visitor);
  };
  const certificate = isSecure ? selfSigned() : null;
  const server = certificate === null ? createServer(listener) : createTlsServer(certificate, listener);
  const site = {
    port: await listening(server),
    certificate,
    visitors,
    cookies,
    headers: () => headers,
    ban: (address: string) => void banned.add(address),
    isDown: false,
  };
  return site;
}
