import { Check } from 'lucide-react';
import type { Job } from '../../api/types.ts';
import { LinkButton } from '../../kit/button.tsx';
import { cx } from '../../kit/class-names.ts';
import { Card } from '../../kit/layout.tsx';
import styles from './home.module.css';

/** A small bookshop that the server itself serves, so that the first steps need no internet. */
const shopUrl = (path = '/'): string => `${location.origin}/sample/shop${path}`;

/** The guide for newcomers: try a page, crawl a site, look at the results. */
export function FirstSteps({ jobs }: { readonly jobs: readonly Job[] }) {
  const hasScraped = jobs.some(({ kind }) => kind === 'scrape');
  const crawl = jobs.find(({ kind }) => kind === 'crawl' || kind === 'batch');
  const hasEnded = crawl !== undefined && !['queued', 'running'].includes(crawl.status);
  return (
    <Card
      title="First steps"
      about="No site at hand, or offline? The steps work on sample pages of this server."
    >
      <ol className={styles.steps}>
        <Step
          isDone={hasScraped}
          number={1}
          title="Try a page"
          text="Fetch one page and see it as Markdown, data and links."
        >
          <LinkButton
            to="/playground"
            search={{ url: shopUrl('/books/the-night-sky') }}
            kind={hasScraped ? 'normal' : 'primary'}
          >
            Scrape a sample page
          </LinkButton>
        </Step>
        <Step
          isDone={crawl !== undefined}
          number={2}
          title="Crawl a site"
          text="Follow its links, politely, within a limit."
        >
          <LinkButton
            to="/jobs/new"
            search={{ url: shopUrl() }}
            kind={hasScraped && crawl === undefined ? 'primary' : 'normal'}
          >
            Crawl the sample site
          </LinkButton>
        </Step>
        <Step
          isDone={hasEnded}
          number={3}
          title="See the results"
          text="Browse the pages, ask why one was skipped, export them."
        >
          {crawl === undefined ? (
            <LinkButton to="/jobs">Jobs</LinkButton>
          ) : (
            <LinkButton to="/jobs/$id" params={{ id: crawl.id }} kind="primary">
              Open the crawl
            </LinkButton>
          )}
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
  readonly children: React.ReactNode;
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
