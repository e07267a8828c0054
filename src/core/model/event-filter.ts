import { eventSpec, eventsTo, JOB_END_EVENTS } from './event-types.ts';

/** The types of events that webhooks can get. */
export const WEBHOOK_EVENTS = eventsTo('webhook');

/** `*` is every event, `job.*` every one that begins with `job.`, anything else is one type. */
export function matchesEvent(pattern: string, type: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type;
}

export const matchesAnyEvent = (patterns: readonly string[], type: string): boolean =>
  patterns.some((pattern) => matchesEvent(pattern, type));

/** Whether a pattern can ever match: one that cannot is a spelling mistake of the caller. */
export const isEventPattern = (pattern: string): boolean =>
  WEBHOOK_EVENTS.some((type) => matchesEvent(pattern, type));

export const isJobEnd = (type: string): boolean => (JOB_END_EVENTS as readonly string[]).includes(type);

/** Whether events of this type are for webhooks at all; others are only for live streams, or for the program itself. */
export const isWebhookEvent = (type: string): boolean => eventSpec(type)?.to.includes('webhook') === true;
