import type { FastifyReply, FastifyRequest } from 'fastify';
import { isStoreAway } from '../../core/errors/scrapifie-error.ts';
import type { App } from './app.ts';
import { type AnswerKey, createRecentAnswers } from './recent-answers.ts';

export interface StaleAnswers {
  /**
   * Answers a request that failed because the store is away as it was answered before, and says that it does; null
   * when that is not why it failed, or nothing is remembered. A store that works is always asked.
   */
  answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply | null;
}

const STALE = 'x-scrapifie-stale';

/** Remembers what routes added afterwards answer to GET. Streams are not remembered. */
export function keepStaleAnswers(app: App, now: () => number): StaleAnswers {
  const recent = createRecentAnswers({ now });

  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/v1/')) return;
    const methods = [route.method].flat();
    if (!methods.includes('GET') && !methods.includes('DELETE')) return;
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
        remember(request, reply, payload);
      },
    ];
  });

  function remember(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
    const question = questionOf(request);
    if (question === null || reply.hasHeader(STALE)) return;
    // Deleted through another process, or lost by a store that went back in time.
    if (request.method === 'GET' && reply.statusCode === 404) recent.drop(question);
    if (reply.statusCode !== 200) return;
    if (request.method === 'DELETE') recent.forget(question.accountId);
    if (request.method !== 'GET' || typeof payload !== 'string') return;
    recent.keep(question, {
      body: payload,
      contentType: String(reply.getHeader('content-type')),
      at: now(),
    });
  }

  return {
    answer(thrown, request, reply) {
      if (request.method !== 'GET' || !isStoreAway(thrown)) return null;
      const question = questionOf(request);
      const found = question === null ? null : recent.find(question);
      if (found === null) return null;
      return reply
        .code(200)
        .header('age', String(Math.max(0, Math.floor((now() - found.at) / 1_000))))
        .header('warning', '110 - "Response is Stale"')
        .header(STALE, 'true')
        .type(found.contentType)
        .send(found.body);
    },
  };
}

/** Returns null for a request without an API key: answers are remembered per account. */
function questionOf({ key, url, headers }: FastifyRequest): AnswerKey | null {
  return key === null ? null : { accountId: key.accountId, url, accept: headers.accept ?? '' };
}
