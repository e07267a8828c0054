import type { EventLinks } from '../events/stream-frames.ts';
import { jobLinks } from './job-view.ts';
import { wrapCursor } from './list.ts';

/** Where the API has what an event is about. */
export const EVENT_LINKS: EventLinks = {
  job: (jobId) => jobLinks(jobId).self,
  // The list of results after the page before it begins with the page itself.
  page: (jobId, seq) => `${jobLinks(jobId).results}?limit=1&cursor=${wrapCursor('results', String(seq - 1))}`,
};
