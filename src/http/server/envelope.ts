import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

export interface Success<T> {
  readonly success: true;
  readonly data: T;
}

export interface FailureBody {
  readonly success: false;
  readonly error: ReturnType<ScrapifieError['toJSON']>;
}

export const success = <T>(data: T): Success<T> => ({ success: true, data });
export const failure = (error: ScrapifieError): FailureBody => ({ success: false, error: error.toJSON() });

export const failureSchema = z
  .object({
    success: z.literal(false),
    error: z.object({
      code: z.string().describe('Stable name of the error; see docs/errors.md.'),
      message: z.string().describe('What happened, for a person.'),
      retryable: z.boolean().describe('Whether the same request may work later.'),
      details: z.unknown().optional().describe('For bad fields: one `{ field, message }` each.'),
    }),
  })
  .meta({ id: 'Failure', description: 'Every answer that is not a success.' });

/** What is answered when something with an id was deleted. */
export const deletedSchema = z.object({ id: z.string(), deleted: z.literal(true) }).meta({ id: 'Deleted' });
/** What is answered when something with a name was deleted. */
export const deletedNameSchema = z
  .object({ name: z.string(), deleted: z.literal(true) })
  .meta({ id: 'DeletedName' });

/**
 * The answers of a route, for the OpenAPI document. They describe; they do not filter: answers are built from
 * typed values and written by JSON.stringify, and tests hold them against these schemas.
 */
export function answers(byStatus: Readonly<Record<number, z.ZodType>>): Record<string, DocumentedAnswer> {
  const documented: Record<string, DocumentedAnswer> = {};
  for (const [status, data] of Object.entries(byStatus)) {
    const schema = z.object({ success: z.literal(true), data });
    documented[status] = documentedAnswer(STATUS_CODES[status] ?? '', schema);
  }
  documented['4xx'] = documentedAnswer('The request cannot be done as it is.', failureSchema);
  documented['5xx'] = documentedAnswer('The server, or the site asked, could not do it.', failureSchema);
  return documented;
}

interface DocumentedAnswer {
  readonly description: string;
  readonly content: Readonly<Record<string, { readonly schema: z.ZodType }>>;
}

const documentedAnswer = (description: string, schema: z.ZodType): DocumentedAnswer => ({
  description,
  content: { 'application/json': { schema } },
});

/** What a caller may name a request: long enough for any tracing id, nothing that could forge a log line. */
const REQUEST_ID = /^[\w.:+/=@-]{1,128}$/;

/** The caller's `X-Request-ID` where it is sane, else a new one. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}
