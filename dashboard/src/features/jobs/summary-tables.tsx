import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatDuration, formatNumber } from '../../format/format.ts';
import { Badge, HttpStatus } from '../../kit/badge.tsx';
import { Card } from '../../kit/layout.tsx';
import { Table } from '../../kit/table.tsx';
import styles from './overview.module.css';
import type { Summary } from './queries.ts';

interface PartProps {
  readonly jobId: string;
  readonly summary: Summary;
}

/** Rows shown; a crawl of the whole web has a million hosts. */
const MOST_ROWS = 12;

/** A link to the URLs of the job that have a value. */
const UrlsLink = ({
  jobId,
  filter,
  children,
}: {
  readonly jobId: string;
  readonly filter: Readonly<Record<string, string>>;
  readonly children: ReactNode;
}) => (
  <Link
    to="/jobs/$id"
    params={{ id: jobId }}
    search={{ ...filter, kind: 'any', tab: 'urls' } as { tab: 'urls' }}
  >
    {children}
  </Link>
);

const Share = ({
  value,
  of,
  label,
}: {
  readonly value: number;
  readonly of: number;
  readonly label: string;
}) => (
  <span className={styles.bar}>
    <meter min={0} max={Math.max(1, of)} value={value} aria-label={label} />
  </span>
);

export function StatusCodes({ jobId, summary }: PartProps) {
  const most = Math.max(0, ...summary.statusCodes.map(({ urls }) => urls));
  return (
    <Card title="Answers" isFlush>
      <Table
        label="Answers by status code"
        empty="No server has answered yet. The status codes of answers are counted here."
        rows={summary.statusCodes.slice(0, MOST_ROWS)}
        keyOf={({ statusCode }) => String(statusCode)}
        columns={[
          {
            id: 'code',
            head: 'Status',
            cell: ({ statusCode }) => (statusCode === null ? 'no answer' : <HttpStatus code={statusCode} />),
          },
          {
            id: 'share',
            head: <span className="visually-hidden">Share</span>,
            cell: ({ statusCode, urls }) => (
              <Share value={urls} of={most} label={`Share of ${statusCode ?? 'no answer'}`} />
            ),
          },
          {
            id: 'urls',
            head: 'URLs',
            align: 'end',
            cell: ({ statusCode, urls }) => (
              <UrlsLink
                jobId={jobId}
                filter={{ status: statusCode === null ? 'none' : `${Math.floor(statusCode / 100)}xx` }}
              >
                {formatNumber(urls)}
              </UrlsLink>
            ),
          },
        ]}
      />
    </Card>
  );
}

export const Engines = ({ jobId, summary }: PartProps) => (
  <Card title="Engines" isFlush>
    <Table
      label="Engines"
      empty="No request was made yet. The engines that fetch pages are compared here."
      rows={summary.engines}
      keyOf={({ engine }) => String(engine)}
      columns={[
        { id: 'engine', head: 'Engine', cell: ({ engine }) => <Badge tone="info">{engine}</Badge> },
        {
          id: 'urls',
          head: 'URLs',
          align: 'end',
          cell: ({ engine, urls }) => (
            <UrlsLink jobId={jobId} filter={{ engine: String(engine) }}>
              {formatNumber(urls)}
            </UrlsLink>
          ),
        },
        {
          id: 'mean',
          head: 'Mean time',
          align: 'end',
          cell: ({ meanMs }) => (meanMs === null ? '–' : formatDuration(meanMs)),
        },
        {
          id: 'credits',
          head: 'Credits',
          align: 'end',
          isSecondary: true,
          cell: ({ credits }) => formatNumber(credits),
        },
      ]}
    />
  </Card>
);

export const Hosts = ({ jobId, summary }: PartProps) => (
  <Card
    title="Hosts"
    {...(summary.hosts.length > MOST_ROWS && {
      about: `The first ${MOST_ROWS} of ${formatNumber(summary.hosts.length)}.`,
    })}
    isFlush
  >
    <Table
      label="Hosts"
      empty="No URL is known yet. The hosts of the job are listed here."
      rows={summary.hosts.slice(0, MOST_ROWS)}
      keyOf={({ host }) => host}
      columns={[
        {
          id: 'host',
          head: 'Host',
          isWide: true,
          cell: ({ host }) => (
            <UrlsLink jobId={jobId} filter={{ host }}>
              {host}
            </UrlsLink>
          ),
        },
        { id: 'done', head: 'Done', align: 'end', cell: ({ done }) => formatNumber(done) },
        { id: 'failed', head: 'Failed', align: 'end', cell: ({ failed }) => formatNumber(failed) },
        {
          id: 'left',
          head: 'Left out',
          align: 'end',
          cell: ({ skipped, denied }) => formatNumber(skipped + denied),
        },
      ]}
    />
  </Card>
);
