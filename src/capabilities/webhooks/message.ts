import type { DeliveryEvent } from '../../core/ports/webhook-store.ts';
import type { EventContents } from './job-contents.ts';

/** Where the API is reached from outside; empty where that is not known: links are paths then. */
export type PublicOrigin = string;

/** Writes the events of webhooks as another API sends them. `secrets`: those that are valid now, the newest first. */
export type MessageShape = (told: {
  readonly event: DeliveryEvent;
  readonly contents: EventContents;
  readonly webhookId: string;
  readonly note: Readonly<Record<string, unknown>>;
  readonly secrets: readonly string[];
}) => { readonly body: string; readonly headers: Readonly<Record<string, string>> };

/**
 * The JSON that is sent for an event. What the event says of itself was stored with it and is the same in every attempt;
 * results are those that are stored when it is sent.
 */
export function messageOf(event: DeliveryEvent, contents: EventContents, origin: PublicOrigin): string {
  const { id, type, at, jobId } = event;
  return JSON.stringify({
    id,
    type,
    timestamp: new Date(at).toISOString(),
    data:
      jobId === null
        ? event.data
        : isOfMonitor(type)
          ? monitorData(event, origin)
          : jobData(event, contents, origin),
  });
}

const isOfMonitor = (type: string): boolean => type.startsWith('monitor.');

const monitorData = ({ jobId, data }: DeliveryEvent, origin: PublicOrigin) => ({
  jobId,
  ...data,
  links: { ...monitorLinks(String(data.monitorId), origin), job: jobLinks(String(jobId), origin).self },
});

function jobData({ type, jobId, data }: DeliveryEvent, contents: EventContents, origin: PublicOrigin) {
  const { job, results, omitted } = contents;
  const links = jobLinks(String(jobId), origin);
  if (type.startsWith('page.')) {
    const [page] = results ?? [];
    const { monitorId, changeId } = data;
    const ofChange =
      typeof monitorId === 'string' && typeof changeId === 'string'
        ? { change: `${monitorLinks(monitorId, origin).changes}?change=${changeId}` }
        : {};
    return {
      jobId,
      ...data,
      page: page ?? null,
      ...(omitted === null ? {} : { pageOmitted: omitted }),
      links: { ...links, ...ofChange },
    };
  }
  const { counters, ...rest } = data;
  const told = { jobId, ...rest, ...(job === null ? {} : { seeds: job.seeds }), summary: counters ?? {} };
  if (results === null && omitted === null) return { ...told, links };
  return { ...told, results, ...(omitted === null ? {} : { resultsOmitted: omitted }), links };
}

export const monitorLinks = (monitorId: string, origin: PublicOrigin) => ({
  self: `${origin}/v1/monitors/${monitorId}`,
  changes: `${origin}/v1/monitors/${monitorId}/changes`,
});

export const jobLinks = (jobId: string, origin: PublicOrigin) => ({
  self: `${origin}/v1/jobs/${jobId}`,
  results: `${origin}/v1/jobs/${jobId}/results`,
});
