import { eventSpec, eventWords, type JOB_END_EVENTS } from '../../core/model/event-types.ts';
import type { DeliveryEvent } from '../../core/ports/webhook-store.ts';
import { type EventContents, jobLinks, monitorLinks, type PublicOrigin } from './message.ts';

/** A short message for people. */
export interface Notice {
  readonly title: string;
  readonly text: string;
  /** Where there is more; null where the address of this server is not known. */
  readonly link: string | null;
  readonly level: 'good' | 'warning' | 'bad' | 'neutral';
  readonly at: number;
}

type Told = 'job.started' | (typeof JOB_END_EVENTS)[number];
const ENDS: Readonly<Record<string, string>> = {
  'job.started': 'has started',
  'job.completed': 'is completed',
  'job.partially_completed': 'is completed in part',
  'job.failed': 'has failed',
  'job.cancelled': 'was cancelled',
} satisfies Readonly<Record<Told, string>>;
const MOST_TITLE = 150;
const MOST_TEXT = 1_000;
const MOST_LINE = 300;

/** What happened, in one line and a few more. Everything that pages and callers have written is cut and on one line. */
export function noticeOf(event: DeliveryEvent, { job }: EventContents, origin: PublicOrigin): Notice {
  const { type, at, jobId, data } = event;
  const level = eventSpec(type)?.level ?? 'neutral';
  const link = jobId === null || origin === '' ? null : jobLinks(jobId, origin).self;
  const base = { level, at, link };
  if (type.startsWith('job.')) {
    const kind = plain(data.kind ?? job?.kind ?? 'job');
    const [seed] = job?.seeds ?? [];
    const of = seed === undefined ? plain(jobId) : plain(seed);
    return {
      ...base,
      title: cut(
        ENDS[type] === undefined ? `${eventWords(type)}: ${of}` : `The ${kind} of ${of} ${ENDS[type]}`,
        MOST_TITLE,
      ),
      text: countersText(data),
    };
  }
  if (type.startsWith('monitor.')) {
    const monitor = origin === '' ? null : monitorLinks(String(data.monitorId), origin).changes;
    return { ...base, link: monitor, ...monitorText(type, data) };
  }
  if (type === 'page.changed') {
    return {
      ...base,
      title: cut(`${plain(data.monitorName)}: ${plain(data.url)}`, MOST_TITLE),
      text: cut(plain(data.text ?? 'The page has changed.'), MOST_TEXT),
    };
  }
  if (type.startsWith('page.')) {
    const problem = data.errorCode == null ? '' : ` (${plain(data.errorCode)})`;
    return {
      ...base,
      title: cut(`${type}: ${plain(data.url)}`, MOST_TITLE),
      text: cut(`${plain(data.title ?? data.url)}${problem}`, MOST_TEXT),
    };
  }
  // The registry has words for every event, also for those that this file knows nothing about.
  return { ...base, title: cut(eventWords(type), MOST_TITLE), text: cut(fieldsText(data), MOST_TEXT) };
}

interface ToldPage {
  readonly url?: unknown;
  readonly text?: unknown;
  readonly reason?: unknown;
}

/** Pages that a message names. */
const MOST_NAMED = 5;

/** What changed on which page, a sentence each. */
function monitorText(type: string, data: DeliveryEvent['data']): Pick<Notice, 'title' | 'text'> {
  const name = plain(data.monitorName);
  const count = Number(data.count);
  const list = (type === 'monitor.changed' ? data.changes : data.pages) as readonly ToldPage[] | undefined;
  const pages = list ?? [];
  const many = (what: string) => (count === 1 ? `1 page ${what}` : `${count} pages ${what}`);
  const titles: Readonly<Record<string, string>> = {
    'monitor.changed': many(count === 1 ? 'has changed' : 'have changed'),
    'monitor.failed': many('cannot be checked'),
    'monitor.recovered': many('can be checked again'),
  };
  const lines = pages.slice(0, MOST_NAMED).map(({ url, text, reason }) => {
    const why = type === 'monitor.failed' ? reason : text;
    return why == null ? plain(url) : `${cut(plain(why), MOST_LINE)} (${plain(url)})`;
  });
  const more = count > lines.length ? [`and ${count - lines.length} more`] : [];
  return {
    title: cut(`${name}: ${titles[type] ?? eventWords(type)}`, MOST_TITLE),
    text: cut([...lines, ...more].join('; '), MOST_TEXT),
  };
}

function countersText(data: DeliveryEvent['data']): string {
  const counters = (data.counters ?? {}) as Record<string, unknown>;
  const told = ['pages', 'failed', 'denied']
    .filter((name) => typeof counters[name] === 'number' && (name === 'pages' || counters[name] !== 0))
    .map((name) => `${counters[name]} ${name}`);
  const reason = data.stopReason == null ? [] : [`stopped: ${plain(data.stopReason)}`];
  return [...told, ...reason].join(', ') || 'No pages yet';
}

const fieldsText = (data: DeliveryEvent['data']) =>
  Object.entries(data)
    .filter(([, value]) => typeof value !== 'object')
    .map(([name, value]) => `${name}: ${plain(value)}`)
    .join(', ') || 'No details';

/** Returns the text without line breaks and other control characters. */
const plain = (value: unknown) => String(value).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
