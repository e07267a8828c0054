import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { invalidRequest } from '../../jobs/invalid-request.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import type { JobId } from '../../model/ids.ts';
import type { Job } from '../../model/job.ts';
import type { Store } from '../../ports/store.ts';
import { accountOf } from '../access/access.ts';

export interface Idempotency {
  /** The `Idempotency-Key` of a request, or null. Throws VALIDATION_FAILED for one that cannot be used. */
  keyOf(request: FastifyRequest): string | null;
  /**
   * Creates a job, or returns the job that the same key and body created before. Throws IDEMPOTENCY_MISMATCH
   * when the key came with another body. At most one job is created per key, despite races and crashes.
   */
  once(request: FastifyRequest, reply: FastifyReply, create: (id: JobId) => Promise<Job>): Promise<Job>;
  /**
   * The id for what a request makes: a new one, or the one that the same key and body were given before. Throws
   * IDEMPOTENCY_MISMATCH when the key came with another body.
   */
  idOf(
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<{ readonly id: JobId; readonly isRepeated: boolean }>;
}

const REMEMBERED_MS = 24 * 60 * 60 * 1_000;
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

export function createIdempotency(store: Store, jobs: Pick<Jobs, 'newId'>, now: () => number): Idempotency {
  function keyOf(request: FastifyRequest): string | null {
    const key = request.headers['idempotency-key'];
    if (key === undefined) return null;
    if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key;
    throw invalidRequest([
      { field: 'Idempotency-Key', message: 'Between 1 and 255 visible ASCII characters are expected.' },
    ]);
  }

  async function idOf(request: FastifyRequest, reply: FastifyReply) {
    const id = jobs.newId();
    const key = keyOf(request);
    if (key === null) return { id, isRepeated: false };
    const at = now();
    const accountId = accountOf(request);
    // The parsed body: its fields stand in the order of the schema, so that spacing and order make no difference.
    const route = `${request.routeOptions.url}\n${JSON.stringify(request.params ?? {})}`;
    const requestHash = hash('sha256', `${route}\n${JSON.stringify(request.body)}`, 'hex');
    const earlier = await store.rememberAnswer(
      { accountId, key, requestHash, jobId: id, at },
      at - REMEMBERED_MS,
    );
    if (earlier === null) return { id, isRepeated: false };
    if (earlier.requestHash !== requestHash) {
      throw new ScrapifieError('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used with another request.');
    }
    reply.header('idempotency-replayed', 'true');
    return { id: earlier.jobId, isRepeated: true };
  }

  async function once(
    request: FastifyRequest,
    reply: FastifyReply,
    create: (id: JobId) => Promise<Job>,
  ): Promise<Job> {
    const { id, isRepeated } = await idOf(request, reply);
    if (keyOf(request) === null) return create(id);
    // The id is remembered before the job is stored: a crash in between leaves the id, and the job is made now.
    return (isRepeated ? await store.getJob(id) : null) ?? createOrFind(id, create);
  }

  /** Two that race for one id: the store lets one create it, the other finds it. */
  async function createOrFind(id: JobId, create: (id: JobId) => Promise<Job>): Promise<Job> {
    try {
      return await create(id);
    } catch (error) {
      const job = await store.getJob(id);
      if (job === null) throw error;
      return job;
    }
  }

  return { keyOf, once, idOf };
}
