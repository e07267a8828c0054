/** What can be told to webhooks, besides `monitor.changed`, `monitor.failed` and `monitor.recovered`. */
export const WEBHOOK_EVENTS = [
  'job.started',
  'job.completed',
  'job.partially_completed',
  'job.failed',
  'job.cancelled',
  'page.done',
  'page.failed',
  'page.changed',
  'schedule.missed',
  'export.ready',
  'account.low_credits',
  'webhook.disabled',
] as const;

/** How a job can end. */
export const JOB_END_EVENTS = [
  'job.completed',
  'job.partially_completed',
  'job.failed',
  'job.cancelled',
] as const;

const OPEN_FAMILY = 'monitor.';
const TYPE = /^[a-z]+(?:\.[a-z_]+)+$/;

/** `*` is every event, `job.*` every one that begins with `job.`, anything else is one type. */
export function matchesEvent(pattern: string, type: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type;
}

export const matchesAnyEvent = (patterns: readonly string[], type: string): boolean =>
  patterns.some((pattern) => matchesEvent(pattern, type));

/** Whether a pattern can ever match: one that cannot is a spelling mistake of the caller. */
export function isEventPattern(pattern: string): boolean {
  if (pattern === `${OPEN_FAMILY}*`) return true;
  if (pattern.startsWith(OPEN_FAMILY) && TYPE.test(pattern)) return true;
  return WEBHOOK_EVENTS.some((type) => matchesEvent(pattern, type));
}

export const isJobEnd = (type: string): boolean => (JOB_END_EVENTS as readonly string[]).includes(type);

/** Whether events of this type are for webhooks at all; others are only for the program itself. */
export const isWebhookEvent = (type: string): boolean =>
  type.startsWith(OPEN_FAMILY) || (WEBHOOK_EVENTS as readonly string[]).includes(type);
