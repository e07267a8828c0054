import { useEffect, useRef, useState } from 'react';
import { STREAM_EVENTS } from '../../api/choices.ts';
import type { Job } from '../../api/types.ts';
import { type LiveEvent, useLiveEvents } from '../../app/live-events.tsx';
import { formatExact, plural, words } from '../../format/format.ts';
import { Badge, type Tone } from '../../kit/badge.tsx';
import { Card } from '../../kit/layout.tsx';
import { Skeleton } from '../../kit/states.tsx';
import styles from './overview.module.css';
import { isOpen } from './queries.ts';

interface Entry {
  readonly key: string;
  readonly at: number;
  readonly type: string;
  readonly text: string;
  readonly tone: Tone;
}

const MOST_ENTRIES = 200;
const JOB_TYPES: readonly string[] = [
  ...STREAM_EVENTS.map(({ value }) => value).filter((type) => /^(?:job|export)\./.test(type)),
  'log',
];
const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/**
 * What happened in a job, the newest first. Its own stream tells the job's story from the beginning; pages come from the
 * stream that all pages of the dashboard share, and are taken twice a second together, however many there are.
 */
export function JobLog({ job }: { readonly job: Job }) {
  const [entries, setEntries] = useState<readonly Entry[] | null>(null);
  const count = useRef(0);
  const add = (events: readonly LiveEvent[]) => {
    const made = events.slice(-MOST_ENTRIES).map((event) => entryOf(event, `${count.current++}`));
    setEntries((before) =>
      [...made.reverse(), ...(before ?? [])].sort((a, b) => b.at - a.at).slice(0, MOST_ENTRIES),
    );
  };
  const addLatest = useRef(add);
  addLatest.current = add;

  const isLive = isOpen(job);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a job that goes on again has a new stream
  useEffect(() => {
    setEntries(null);
    const source = new EventSource(`/v1/jobs/${job.id}/events?types=job.*,export.*,log`);
    const onEvent = ({ type, data, lastEventId }: MessageEvent<string>) =>
      addLatest.current([{ id: lastEventId, type, data: JSON.parse(data) }]);
    for (const type of JOB_TYPES) source.addEventListener(type, onEvent);
    source.addEventListener('end', () => {
      source.close();
      setEntries((before) => before ?? []);
    });
    return () => source.close();
  }, [job.id, isLive]);

  useLiveEvents((events) => {
    const mine = events.filter(({ type, data }) => type.startsWith('page.') && data.jobId === job.id);
    if (mine.length > 0) add(mine);
  });

  return (
    <Card
      title="Events"
      about={
        isLive
          ? 'As they happen, the newest first.'
          : 'The newest first. Pages are listed while the job runs.'
      }
      isFlush
    >
      {entries === null ? (
        <div className={styles.waiting}>
          <Skeleton lines={4} />
        </div>
      ) : entries.length === 0 ? (
        <p className={styles.empty}>No event is kept of this job. Events are removed by age.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <ol className={styles.log} aria-label="Events of the job" tabIndex={0}>
          {entries.map(({ key, at, type, text, tone }) => (
            <li key={key}>
              <time dateTime={new Date(at).toISOString()} title={formatExact(at)}>
                {clock.format(at)}
              </time>
              <span>
                <Badge tone={tone}>{words(type.replace('.', ' '))}</Badge>
              </span>
              <span className={styles.text}>{text}</span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

const LEVEL_TONES = {
  good: 'good',
  neutral: 'idle',
  warning: 'warn',
  bad: 'bad',
} as const satisfies Readonly<Record<(typeof STREAM_EVENTS)[number]['level'], Tone>>;
const TONES: ReadonlyMap<string, Tone> = new Map<string, Tone>([
  ...STREAM_EVENTS.map(({ value, level }) => [value, LEVEL_TONES[level]] as const),
  ['log', 'warn'],
]);

const entryOf = ({ type, data }: LiveEvent, key: string): Entry => ({
  key,
  at: typeof data.at === 'string' ? Date.parse(data.at) : Date.now(),
  type,
  text: textOf(type, data),
  tone: TONES.get(type) ?? 'idle',
});

function textOf(type: string, data: LiveEvent['data']): string {
  const text = (name: string): string => (typeof data[name] === 'string' ? (data[name] as string) : '');
  if (type === 'page.done') return `${data.statusCode ?? ''} ${text('url')}`.trim();
  if (type === 'page.failed') return `${text('url')} – ${text('errorMessage') || text('errorCode')}`;
  if (type === 'log') return text('message');
  if (type.startsWith('export.'))
    return [text('type'), text('format'), text('message')].filter(Boolean).join(' ');
  const { pages = 0, failed = 0 } = (data.progress ?? {}) as { pages?: number; failed?: number };
  const reason = text('stopReason');
  return `${plural(pages, 'page')}, ${plural(failed, 'failure')}${reason && ` · ${reason}`}`;
}
