import type { FetchRequest, FetchResponse, ResponseHeaders } from '../engine.ts';
import type { Body } from './body-buffer.ts';
import { isRedirect } from './redirect.ts';
import { RedirectChain } from './redirect-chain.ts';
import type { HeaderList } from './request-headers.ts';

/** What one request of a chain was answered with; the body is empty for redirects. */
export interface Hop {
  readonly statusCode: number;
  readonly headers: ResponseHeaders;
  readonly body: Body;
  /** Size of the body before decompression. */
  readonly wireBytes: number;
  readonly httpVersion: FetchResponse['httpVersion'];
}

/** Makes the requests of a chain, whatever carries them. */
export interface HopSender {
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
  /**
   * Asks for where the chain is now and tells the chain what cookies came back. Never follows a redirect. Throws
   * TASK_TIMEOUT when `deadline` passes, and otherwise as Engine says.
   */
  sendHop(chain: RedirectChain, request: FetchRequest, deadline: number): Promise<Hop>;
}

/** One attempt from its first request to the answer that is no redirect, or is one that must not be followed. */
export async function followRedirects(
  sender: HopSender,
  request: FetchRequest,
  defaults: HeaderList,
): Promise<FetchResponse> {
  const startedAt = sender.now();
  const chain = new RedirectChain(request, defaults);
  let deadline = startedAt + request.timeoutMs;
  let wireBytes = 0;

  for (;;) {
    const hop = await sender.sendHop(chain, request, deadline);
    const { statusCode, headers } = hop;
    wireBytes += hop.wireBytes;

    let redirectedTo: string | null = null;
    if (isRedirect(statusCode)) {
      const target = chain.next(statusCode, headers, Date.now());
      const askedAt = sender.now();
      const answer = await request.onRedirect(target.href, chain.redirects.length + 1);
      deadline += sender.now() - askedAt;
      if (answer === 'follow') {
        chain.follow(statusCode, target);
        continue;
      }
      redirectedTo = target.href;
    }
    return {
      url: request.url,
      finalUrl: chain.url.href,
      statusCode,
      headers,
      contentType: firstOf(headers['content-type']),
      body: hop.body,
      wireBytes,
      redirects: chain.redirects,
      redirectedTo,
      ms: sender.now() - startedAt,
      httpVersion: hop.httpVersion,
    };
  }
}

function firstOf(header: string | readonly string[] | undefined): string | null {
  return (typeof header === 'string' ? header : header?.[0]) ?? null;
}
