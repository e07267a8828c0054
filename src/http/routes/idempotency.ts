import { createHmac, randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Jobs } from '../../capabilities/jobs/jobs.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { Store } from '../../core/ports/store.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The job that the request has created, or found under its key; for its line in the log. */
    jobId: JobId | null;
  }
}

/** Makes what a request asks for once, also when the process died after it was made and before the answer was kept. */
export interface Idempotency {
  /** Creates a job, or returns the one that an earlier request with the same key has created. */
  once(request: FastifyRequest, create: (id: JobId) => Promise<Job>): Promise<Job>;
  /** The id for what a request makes. `isRepeated`: an earlier request with the same key may have made it already. */
  idOf(request: FastifyRequest): { readonly id: JobId; readonly isRepeated: boolean };
}

export function createIdempotency(store: Pick<Store, 'getJob'>, jobs: Pick<Jobs, 'newId'>): Idempotency {
  return {
    idOf: ({ held }) => ({
      id: (held?.id as JobId | undefined) ?? jobs.newId(),
      isRepeated: held?.isRepeated ?? false,
    }),
    async once(request, create) {
      const job = await createOnce(request.held, create);
      request.jobId = job.id;
      return job;
    },
  };

  async function createOnce(held: FastifyRequest['held'], create: (id: JobId) => Promise<Job>): Promise<Job> {
    if (held === null) return create(jobs.newId());
    const id = held.id as JobId;
    const earlier = held.isRepeated ? await store.getJob(id) : null;
    if (earlier !== null) return earlier;
    try {
      return await create(id);
    } catch (error) {
      // A request that was slow, and not dead, may have created it meanwhile.
      const made = held.isRepeated ? await store.getJob(id) : null;
      if (made === null) throw error;
      return made;
    }
  }
}

/** The id of what the request creates; the same for all requests with one Idempotency-Key. */
export const newIdFor = ({ held }: FastifyRequest): string => held?.id ?? randomUUID();

/** Chance for a secret of what the request creates, the same for all requests with one key; null: take any. */
export function secretBytesFor({ held }: FastifyRequest, what: string): Buffer | null {
  return held === null ? null : createHmac('sha256', held.seed).update(what).digest();
}
