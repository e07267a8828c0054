import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { credentialAccessOf } from '../../../capabilities/accounts/api-key.ts';
import { requireReadable } from '../../../capabilities/accounts/scopes.ts';
import type { Given } from '../../../capabilities/jobs/accept/accept-job.ts';
import { parseRequest } from '../../../capabilities/jobs/request/invalid-request.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { Job } from '../../../core/model/job.ts';
import type { JobKind } from '../../../core/model/job-kinds.ts';
import type { RouteDeps } from '../../routes/route-deps.ts';
import { apiKeyOf, mayReadPrivate, starterOf } from '../../server/caller.ts';
import { clientGone } from '../../server/connections.ts';
import { Refusal } from './failure.ts';
import type { StatusParts } from './view/job-status.ts';

/** What every file in routes/ gets, once for each version of the API. */
export interface FirecrawlDeps extends RouteDeps {
  readonly isV1: boolean;
}

export const firecrawlDeps = (deps: RouteDeps, isV1: boolean): FirecrawlDeps => ({ ...deps, isV1 });

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The job that the path names. Jobs of other accounts, and of other kinds, are answered like missing ones. */
export async function jobOf(
  request: FastifyRequest,
  { jobs }: Pick<FirecrawlDeps, 'jobs'>,
  kinds: readonly JobKind[],
): Promise<Job> {
  const { id = '' } = request.params as { id?: string };
  if (!UUID.test(id)) throw new Refusal(400, 'Invalid job ID format. Job ID must be a valid UUID.');
  const key = apiKeyOf(request);
  const job = await jobs.get(id.toLowerCase(), key.accountId);
  if (!kinds.includes(job.kind)) throw new ScrapifieError('NOT_FOUND', `There is no such job ${id}.`);
  requireReadable(key, job);
  return job;
}

/** What our jobs are told of the request besides what it asks for. */
export function givenBy(request: FastifyRequest, reply?: FastifyReply): Given {
  return {
    credentials: credentialAccessOf(apiKeyOf(request)),
    startedBy: starterOf(request),
    ...(reply === undefined ? {} : { signal: clientGone(reply) }),
  };
}

export const statusParts = (
  request: FastifyRequest,
  { jobs, isV1, store, contents, now }: FirecrawlDeps,
): StatusParts => ({ jobs, isV1, store, contents, now, hasPrivate: mayReadPrivate(request) });

/**
 * What a route that creates something makes of its request, read before the Idempotency-Key is taken: a request that is
 * refused here has not used its key.
 */
export function readFirst<T>(read: (request: FastifyRequest) => T) {
  const found = new WeakMap<FastifyRequest, T>();
  return {
    preValidation: async (request: FastifyRequest): Promise<void> => {
      found.set(request, read(request));
    },
    of: (request: FastifyRequest): T => found.get(request) ?? read(request),
  };
}

/** The body by its schema. A body that is missing is an empty one. */
export const bodyOf = <T extends z.ZodType>(schema: T, body: unknown): z.output<T> =>
  parseRequest(schema, body ?? {});
