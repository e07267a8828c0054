import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../../core/errors/registry.ts';
import type { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { shownToClients, toScrapifieError } from '../../server/failures.ts';
import { withClientFields } from './client-fields.ts';

/** An error as clients of this API read it. */
export interface FailureBody {
  readonly success: false;
  readonly error: string;
  readonly code?: string;
  readonly details?: unknown;
}

interface Told {
  readonly status: number;
  readonly code?: string;
  readonly text?: string;
}

/** What our errors are called here; those that are not listed keep their code, and a status that clients know. */
const TOLD: Partial<Record<ErrorCode, Told>> = {
  MALFORMED_JSON: { status: 400, code: 'BAD_REQUEST_INVALID_JSON', text: 'Bad request, malformed JSON' },
  VALIDATION_FAILED: { status: 400, code: 'BAD_REQUEST' },
  INVALID_URL: { status: 400, code: 'BAD_REQUEST' },
  BODY_TOO_LARGE: { status: 413, text: 'Request body is too large' },
  NOT_FOUND: { status: 404, text: 'Job not found' },
  EXPIRED: { status: 404, text: 'Job expired' },
  REQUEST_TIMEOUT: { status: 408, code: 'SCRAPE_TIMEOUT' },
  TASK_TIMEOUT: { status: 408, code: 'SCRAPE_TIMEOUT' },
  HEADERS_TIMEOUT: { status: 408, code: 'SCRAPE_TIMEOUT' },
  BODY_TIMEOUT: { status: 408, code: 'SCRAPE_TIMEOUT' },
  DNS_FAILED: { status: 500, code: 'SCRAPE_DNS_RESOLUTION_ERROR' },
  TLS_FAILED: { status: 500, code: 'SCRAPE_SSL_ERROR' },
  CONNECT_FAILED: { status: 500, code: 'SCRAPE_SITE_ERROR' },
  CONNECTION_RESET: { status: 500, code: 'SCRAPE_SITE_ERROR' },
  HTTP_ERROR: { status: 500, code: 'SCRAPE_SITE_ERROR' },
  HOST_RATE_LIMITED: { status: 500, code: 'SCRAPE_SITE_ERROR' },
  BLOCKED: { status: 500, code: 'SCRAPE_ALL_ENGINES_FAILED' },
  CAPTCHA: { status: 500, code: 'SCRAPE_ALL_ENGINES_FAILED' },
  ACTION_FAILED: { status: 400, code: 'SCRAPE_ACTION_ERROR' },
  EXTRACTION_FAILED: { status: 500, code: 'SCRAPE_UNSUPPORTED_FILE_ERROR' },
  NO_BROWSER: { status: 400, code: 'SCRAPE_ACTIONS_NOT_SUPPORTED' },
  BROWSER_UNCONFINED: { status: 400, code: 'SCRAPE_ACTIONS_NOT_SUPPORTED' },
};

const UNKNOWN_KEY =
  'Unrecognized key in body -- please review the v2 API documentation for request body changes';

/** 502 would have clients send the same request again at once; a page that cannot be had stays so. */
function statusOf({ spec: { httpStatus, isOurs } }: ScrapifieError): number {
  if (httpStatus === 422) return 400;
  if (httpStatus === 504) return 408;
  return httpStatus === 502 || (httpStatus === 503 && isOurs !== true) ? 500 : httpStatus;
}

export function failureOf(known: ScrapifieError): { readonly status: number; readonly body: FailureBody } {
  // What is wrong with the search service is written here, and names no address and no path.
  const error = known.code === 'SEARCH_UNAVAILABLE' ? known : shownToClients(known);
  const { code, message, details } = error;
  const told = TOLD[code];
  if (code === 'UNAUTHENTICATED') {
    const text = message.startsWith('Send an API key') ? 'Token missing' : 'Invalid token';
    return { status: 401, body: { success: false, error: `Unauthorized: ${text}` } };
  }
  const hasDetails = details !== undefined && told?.text === undefined;
  const body: FailureBody = {
    success: false,
    error: told?.text ?? (isUnknownKey(error) ? `${UNKNOWN_KEY}: ${message}` : wordsOf(error)),
    ...(told?.text !== undefined && told.code === undefined ? {} : { code: told?.code ?? code }),
    ...(hasDetails ? { details } : {}),
  };
  return { status: told?.status ?? statusOf(error), body };
}

function isUnknownKey({ code, details }: ScrapifieError): boolean {
  if (code !== 'VALIDATION_FAILED' || !Array.isArray(details)) return false;
  return details.some((each) => /is not a known field/.test((each as { message?: string }).message ?? ''));
}

/** Clients that are limited read from the text when to come again. */
function wordsOf({ code, message, retryAfterMs }: ScrapifieError): string {
  if (code !== 'RATE_LIMITED' || retryAfterMs === undefined) return message;
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return `Rate limit exceeded. ${message} Please retry after ${seconds}s, resets at ${new Date(Date.now() + retryAfterMs).toISOString()}`;
}

/** Answers in the envelope of this API. What is a fault of the program goes to the log, and never to the client. */
export function sendFirecrawlFailure(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { originalUrl, body: sent } = request;
  const path = originalUrl.split('?', 1)[0] ?? '';
  const error = withClientFields(toScrapifieError(thrown), { path, body: sent });
  request.failure = error;
  if (error.code === 'INTERNAL') {
    request.log.error({ err: error.cause ?? error }, 'fault');
  }
  const { status, body } = failureOf(error);
  if (error.retryAfterMs !== undefined) {
    reply.header('retry-after', String(Math.max(1, Math.ceil(error.retryAfterMs / 1_000))));
  }
  return reply
    .code(status)
    .header('x-request-id', request.id)
    .type('application/json; charset=utf-8')
    .send(body);
}

/** An answer that says no, where there is no error of ours for it. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string | undefined;

  constructor(status: number, message: string, code?: string) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
  }
}
