import type { FastifyReply } from 'fastify';
import type { App } from '../server/app.ts';
import { isOurs, sendFailure, toScrapifieError } from '../server/failures.ts';
import { refusalPage } from './bot-page.ts';

/** Sends a page that no cache keeps. */
export const sendPage = (reply: FastifyReply, html: string): FastifyReply =>
  reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(html);

/** People get the reason of a refusal as a page, with the status that programs get, also when it comes before the body is read. */
export function refuseWithPages(app: App): void {
  app.setErrorHandler((thrown, request, reply) => {
    const error = toScrapifieError(thrown);
    if (isOurs(error) || error.code === 'INTERNAL') return sendFailure(error, request, reply);
    request.failure = error;
    const [problem] = (error.details ?? []) as { field?: string; message?: string }[];
    const message = problem?.message === undefined ? error.message : `${problem.field}: ${problem.message}`;
    if (error.retryAfterMs !== undefined) reply.header('retry-after', Math.ceil(error.retryAfterMs / 1_000));
    return sendPage(reply.code(error.spec.httpStatus), refusalPage(message));
  });
}
