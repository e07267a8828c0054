import type { Bus } from '../../core/ports/bus.ts';
import type { Queue } from '../../core/ports/queue.ts';
import { createJobs, type Jobs, type JobsDeps } from './jobs.ts';

/** This process has no listeners; a server on the same store finds the changes there. */
export const SILENT_BUS: Bus = {
  publish: () => undefined,
  subscribe: () => () => undefined,
  check: async () => undefined,
  close: async () => undefined,
};
const SILENT_QUEUE: Pick<Queue, 'offer'> = { offer: async () => undefined };

/** The jobs of an open storage, beside the servers that may work on them; nothing of this process does. */
export function jobsBeside(places: Pick<JobsDeps, 'store' | 'blobs' | 'vault' | 'addWebhook'>): Jobs {
  return createJobs({
    ...places,
    bus: SILENT_BUS,
    queue: SILENT_QUEUE,
    now: Date.now,
    random: Math.random,
    maxQueuedUrls: Number.POSITIVE_INFINITY,
    consents: () => true,
  });
}
