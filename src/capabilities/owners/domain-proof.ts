import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Agent } from 'undici';
import type { ProofMethod } from '../../core/ports/site-owner-store.ts';
import type { PrivateAddresses } from '../../fetch/guard/address-guard.ts';
import { createGuardedConnector } from '../../fetch/guard/guarded-lookup.ts';

/** Finds out whether a token is published on a host, which only the owner of the host can do. */
export interface DomainProof {
  /** How the token was found; null, with what was seen instead, when it was not. */
  find(host: string, token: string): Promise<FoundProof>;
  close(): Promise<void>;
}

export type FoundProof =
  | { readonly by: ProofMethod }
  | { readonly by: null; readonly seen: readonly string[] };

export interface DomainProofOptions {
  readonly allowPrivate: PrivateAddresses;
  readonly userAgent: string;
  /** DNS servers to ask, `address:port`; those of the system by default. */
  readonly dnsServers?: readonly string[];
}

export const PROOF_PATH = '/.well-known/scrapifie-verification.txt';
const DNS_LABEL = '_scrapifie';
const TIMEOUT_MS = 8_000;
const MAX_BYTES = 65_536;

/** What has to stand in the file or in the record. */
export function proofText(token: string): string {
  return `scrapifie-verification=${token}`;
}

/** The name of the TXT record; null for an address, which has no records of its own. */
export function proofRecord(host: string): string | null {
  const name = host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  return isIP(name) === 0 ? `${DNS_LABEL}.${name}` : null;
}

/**
 * The file is asked for by https and by http, without following redirects: what another host answers proves nothing. Every
 * connection passes the address guard, because anyone may have this process ask any host.
 */
export function createDomainProof(options: DomainProofOptions): DomainProof {
  const agent = new Agent({
    connect: createGuardedConnector({
      allowPrivate: options.allowPrivate,
      timeoutMs: TIMEOUT_MS,
      allowH2: false,
      maxCachedSessions: 0,
    }),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: MAX_BYTES,
    pipelining: 0,
  } as Agent.Options);
  const resolver = new Resolver({ timeout: TIMEOUT_MS / 2, tries: 1 });
  if (options.dnsServers !== undefined) resolver.setServers(options.dnsServers);

  async function inFile(origin: string, text: string): Promise<string | null> {
    try {
      const { statusCode, headers, body } = await agent.request({
        origin,
        path: PROOF_PATH,
        method: 'GET',
        headers: { 'user-agent': options.userAgent, accept: 'text/plain' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const content = await body.text();
      if (statusCode !== 200) return `${origin}${PROOF_PATH} answers with status ${statusCode}.`;
      if (!isPlainText(headers['content-type'])) return `${origin}${PROOF_PATH} is not sent as text/plain.`;
      return hasLine(content, text) ? null : `${origin}${PROOF_PATH} does not have the line.`;
    } catch (error) {
      return `${origin}${PROOF_PATH} cannot be fetched: ${codeOf(error)}.`;
    }
  }

  async function inRecord(name: string, text: string): Promise<string | null> {
    try {
      const records = await resolver.resolveTxt(name);
      const isThere = records.some((parts) => parts.join('').trim() === text);
      return isThere ? null : `The TXT record ${name} has another text.`;
    } catch (error) {
      return `There is no TXT record ${name}: ${codeOf(error)}.`;
    }
  }

  return {
    async find(host, token) {
      const text = proofText(token);
      const record = proofRecord(host);
      const [byHttps, byHttp, byRecord] = await Promise.all([
        inFile(`https://${host}`, text),
        inFile(`http://${host}`, text),
        record === null ? 'An address has no DNS records.' : inRecord(record, text),
      ]);
      if (byHttps === null || byHttp === null) return { by: 'file' };
      if (byRecord === null) return { by: 'dns' };
      return { by: null, seen: [byHttps, byHttp, byRecord] };
    },
    async close() {
      resolver.cancel();
      await agent.destroy();
    },
  };
}

/** A page of the site could show the line where visitors may write; a file without a type counts as text. */
function isPlainText(contentType: string | string[] | undefined): boolean {
  const types = [contentType ?? []].flat();
  return types.every((type) => /^\s*text\/plain\s*(?:;|$)/i.test(type));
}

function hasLine(content: string, text: string): boolean {
  return content.split(/\r?\n/).some((line) => line.trim() === text);
}

/** The code of an error, never its message, which may show addresses of this network. */
function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : String(name ?? 'error');
}
