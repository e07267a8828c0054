import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { formatNumber, shortUrl } from '../../format/format.ts';
import { Badge, HttpStatus, StatusBadge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { ExternalLink } from '../../kit/external-link.tsx';
import { Card, Columns, Stack } from '../../kit/layout.tsx';
import { FailureState, Skeleton } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { LinkGraph } from './link-graph.tsx';
import { keyOf } from './queries.ts';
import styles from './tree.module.css';

/** Links of a page in both directions, as a picture and as tables. */
export function PageLinks({
  jobId,
  url,
  hrefOf,
  onFocus,
}: {
  readonly jobId: string;
  readonly url: string;
  /** The address at which another page is in the middle. */
  readonly hrefOf: (url: string) => string;
  readonly onFocus: (url: string) => void;
}) {
  const query = useInfiniteQuery({
    queryKey: keyOf(jobId, 'links', url),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      api.get('/v1/jobs/{id}/links', {
        params: { id: jobId },
        query: { url, limit: 200, ...(pageParam && { cursor: pageParam }) },
        signal,
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const first = query.data?.pages[0];
  if (first === undefined) {
    if (query.error !== null)
      return <FailureState failure={query.error} onRetry={() => void query.refetch()} />;
    return <Skeleton lines={8} height={28} />;
  }
  const incoming = query.data?.pages.flatMap((page) => page.incoming) ?? [];
  const { outgoing, outgoingCount, hasPage } = first;
  const inJob = (target: string) => (
    <Link to="/jobs/$id/url" params={{ id: jobId }} search={{ u: target }}>
      {shortUrl(target)}
    </Link>
  );
  return (
    <Stack>
      <LinkGraph url={first.url} incoming={incoming} outgoing={outgoing} hrefOf={hrefOf} onFocus={onFocus} />
      <Columns min="wide">
        <Card
          title={`Pages that lead here (${formatNumber(incoming.length)}${query.hasNextPage ? ' so far' : ''})`}
          isFlush={incoming.length > 0}
        >
          {incoming.length === 0 ? (
            <p className={styles.note}>
              {query.hasNextPage
                ? 'None among the pages that were looked at so far.'
                : 'No stored page of the job links to it.'}
            </p>
          ) : (
            <Table
              label="Pages that lead here"
              rows={incoming.map((link, index) => ({ ...link, index }))}
              keyOf={({ index }) => String(index)}
              columns={[
                { id: 'url', head: 'Page', isWide: true, cell: ({ url: page }) => inJob(page) },
                { id: 'text', head: 'Text of the link', cell: ({ text }) => text || '–' },
                { id: 'rel', head: 'Rel', isSecondary: true, cell: ({ rel }) => rel || '–' },
              ]}
            />
          )}
          {query.hasNextPage && (
            <div className={styles.more}>
              <Button
                size="small"
                isBusy={query.isFetchingNextPage}
                onClick={() => void query.fetchNextPage()}
              >
                Look at more pages
              </Button>
            </div>
          )}
        </Card>
        <Card title={`Pages it leads to (${formatNumber(outgoingCount)})`} isFlush={outgoing.length > 0}>
          {outgoing.length === 0 ? (
            <p className={styles.note}>
              {hasPage
                ? 'The page has no links.'
                : 'The job stored no page for this URL, so its links are unknown.'}
            </p>
          ) : (
            <Table
              label="Pages it leads to"
              rows={outgoing.map((link, index) => ({ ...link, index }))}
              keyOf={({ index }) => String(index)}
              columns={[
                {
                  id: 'url',
                  head: 'Page',
                  isWide: true,
                  cell: ({ url: target, state }) =>
                    state === null ? <ExternalLink url={target} text={shortUrl(target)} /> : inJob(target),
                },
                { id: 'text', head: 'Text', isSecondary: true, cell: ({ text }) => text || '–' },
                {
                  id: 'state',
                  head: 'In this job',
                  cell: ({ state }) =>
                    state === null ? <Badge>not in it</Badge> : <StatusBadge status={state} />,
                },
                {
                  id: 'status',
                  head: 'Status',
                  isSecondary: true,
                  cell: ({ statusCode }) => <HttpStatus code={statusCode} />,
                },
              ]}
            />
          )}
        </Card>
      </Columns>
    </Stack>
  );
}
