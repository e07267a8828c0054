interface EventSpec {
  /** Where the event is sent: to webhooks and the channels of monitors, to streams of live events, or nowhere: then only the program reads it. */
  readonly to: readonly ('webhook' | 'stream')[];
  /** How good the news is, for people. */
  readonly level: 'good' | 'neutral' | 'warning' | 'bad';
  readonly when: string;
  /** No store writes it: readers make it of `pages.committed`. */
  readonly isMade?: true;
}

const BOTH = ['webhook', 'stream'] as const;

/**
 * The one registry of events: what stores write, and what is made of it for those who are told. The types of what is written, the
 * patterns that webhooks and streams may name, and the tables of docs/events.md and docs/webhooks.md come from it.
 */
export const EVENTS = {
  'job.created': { to: ['stream'], level: 'neutral', when: 'the job was accepted' },
  'job.started': { to: BOTH, level: 'neutral', when: 'its first URL is worked on' },
  'job.stopping': {
    to: ['stream'],
    level: 'neutral',
    when: 'no further task begins: cancelled, or stopped for a reason (`stopReason`); what is under way continues',
  },
  'job.resumed': {
    to: ['stream'],
    level: 'neutral',
    when: 'it continues after it had ended or was stopping: resumed, or retried',
  },
  'job.completed': { to: BOTH, level: 'good', when: 'the job has ended, after its last pages' },
  'job.partially_completed': { to: BOTH, level: 'warning', when: 'the job has ended, and pages failed' },
  'job.failed': { to: BOTH, level: 'bad', when: 'the job has failed' },
  'job.cancelled': { to: BOTH, level: 'warning', when: 'the job has ended because it was cancelled' },
  'pages.committed': { to: [], level: 'neutral', when: 'pages of one job were stored together' },
  'page.done': { to: BOTH, level: 'neutral', isMade: true, when: 'a page is stored; one event for each' },
  'page.failed': {
    to: BOTH,
    level: 'bad',
    isMade: true,
    when: 'a page has failed for good; one event for each',
  },
  'page.changed': { to: BOTH, level: 'neutral', when: 'a page of a [monitor](monitors.md) has changed' },
  'monitor.changed': {
    to: BOTH,
    level: 'warning',
    when: 'a check found changes; one event for all pages of the check',
  },
  'monitor.failed': { to: BOTH, level: 'bad', when: 'a check found pages that cannot be checked' },
  'monitor.recovered': { to: BOTH, level: 'good', when: 'a check found that pages work again' },
  'schedule.missed': { to: BOTH, level: 'bad', when: 'a tick of a [schedule](schedules.md) did not run' },
  'export.ready': { to: BOTH, level: 'good', when: 'an [export](exports.md) was written' },
  'export.failed': { to: BOTH, level: 'bad', when: 'an [export](exports.md) was given up' },
  'account.low_credits': {
    to: BOTH,
    level: 'warning',
    when: 'the account fell below its threshold of [credits](credits.md)',
  },
  'webhook.disabled': { to: BOTH, level: 'bad', when: 'another webhook of the account was disabled' },
} as const satisfies Readonly<Record<string, EventSpec>>;

export type EventName = keyof typeof EVENTS;

type Made = { [Name in EventName]: (typeof EVENTS)[Name] extends { isMade: true } ? Name : never }[EventName];

/** What a store may write. */
export type EventType = Exclude<EventName, Made>;

export type JobEventType = Extract<EventType, `job.${string}`>;

const SPECS: ReadonlyMap<string, EventSpec> = new Map<string, EventSpec>(Object.entries(EVENTS));

/** Null when there is no such event. */
export const eventSpec = (type: string): EventSpec | null => SPECS.get(type) ?? null;

/** What has happened, as a sentence without its point: `when` of the registry without links. */
export function eventWords(type: string): string {
  const words = (eventSpec(type)?.when ?? type).replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

export const eventsTo = (reader: 'webhook' | 'stream'): readonly EventName[] =>
  (Object.keys(EVENTS) as EventName[]).filter((name) => eventSpec(name)?.to.includes(reader) === true);

/** How a job can end. */
export const JOB_END_EVENTS = [
  'job.completed',
  'job.partially_completed',
  'job.failed',
  'job.cancelled',
] as const satisfies readonly JobEventType[];

/** The types of events that webhooks can get. */
export const WEBHOOK_EVENTS = eventsTo('webhook');

/** `*` is every event, `job.*` every one that begins with `job.`, anything else is one type. */
function matchesEvent(pattern: string, type: string): boolean {
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
