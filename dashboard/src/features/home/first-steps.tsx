import { useQuery } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { api } from '../../api/client.ts';
import type { Job } from '../../api/types.ts';
import { LinkButton } from '../../kit/button.tsx';
import { cx } from '../../kit/class-names.ts';
import { Card } from '../../kit/layout.tsx';
import styles from './home.module.css';

/** A small bookshop that the server itself serves, so that the first steps need no internet. */
const shopUrl = (path = '/'): string => `${location.origin}/sample/shop${path}`;

/** Whether a monitor exists; the key `monitors` is that of live events. */
const anyMonitor = {
  queryKey: ['monitors', 'any'],
  queryFn: ({ signal }: { signal: AbortSignal }) => api.get('/v1/monitors', { query: { limit: 1 }, signal }),
};

/** The guide for newcomers: try a page, crawl a site, take the results along, watch for changes. Gone once all is done. */
export function FirstSteps({ jobs }: { readonly jobs: readonly Job[] }) {
  const monitors = useQuery(anyMonitor);
  const crawl = jobs.find(({ kind }) => kind === 'crawl' || kind === 'batch');
  const done = [
    jobs.some(({ kind }) => kind === 'scrape'),
    crawl !== undefined,
    crawl !== undefined && !['queued', 'running'].includes(crawl.status),
    monitors.data !== undefined && monitors.data.items.length > 0,
  ] as const;
  const next = done.indexOf(false);
  if (next === -1) return null;
  const step = (index: 0 | 1 | 2 | 3) => ({ isDone: done[index], number: index + 1 });
  /** One button of the guide stands out: that of the step which comes next. */
  const looks = (index: number) => ({ kind: index === next ? ('primary' as const) : ('normal' as const) });
  return (
    <Card
      title="First steps"
      about="No site at hand, or offline? The steps work on sample pages of this server."
    >
      <ol className={styles.steps}>
        <Step {...step(0)} title="Try a page" text="Fetch one page and see it as Markdown, data and links.">
          <LinkButton
            {...looks(0)}
            to="/playground"
            search={{ url: shopUrl('/books/the-night-sky') }}
            state={{ run: true }}
          >
            Scrape a sample page
          </LinkButton>
        </Step>
        <Step {...step(1)} title="Crawl a site" text="Follow its links, politely, within a limit.">
          <LinkButton {...looks(1)} to="/jobs/new" search={{ url: shopUrl() }}>
            Crawl the sample site
          </LinkButton>
        </Step>
        <Step
          {...step(2)}
          title="See the results"
          text="Browse the pages, ask why one was skipped, export them as a file."
        >
          {crawl === undefined ? (
            <LinkButton {...looks(2)} to="/jobs">
              Jobs
            </LinkButton>
          ) : (
            <LinkButton {...looks(2)} to="/jobs/$id" params={{ id: crawl.id }}>
              Open the crawl
            </LinkButton>
          )}
        </Step>
        <Step
          {...step(3)}
          title="Watch for changes"
          text="Have a page looked at again and again, and be told what is different."
        >
          <LinkButton
            {...looks(3)}
            to="/monitors"
            search={{ new: true, url: shopUrl('/books/the-night-sky') }}
          >
            Watch a sample page
          </LinkButton>
        </Step>
      </ol>
    </Card>
  );
}

function Step({
  number,
  title,
  text,
  isDone,
  children,
}: {
  readonly number: number;
  readonly title: string;
  readonly text: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}) {
  return (
    <li className={styles.step}>
      <span className={cx(styles.number, isDone && styles.done)}>
        {isDone ? <Check size={16} aria-label="done" /> : number}
      </span>
      <div>
        <h3>{title}</h3>
        <p>{text}</p>
        {children}
      </div>
    </li>
  );
}
