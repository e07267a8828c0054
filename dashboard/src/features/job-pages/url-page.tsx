import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ArrowLeft, ArrowRight, Bell, FlaskConical } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { pathOf } from '../../api/client.ts';
import { formatBytes, formatDuration, formatNumber, plural, shortUrl, words } from '../../format/format.ts';
import { HttpStatus, StatusBadge } from '../../kit/badge.tsx';
import { IconButton, LinkButton } from '../../kit/button.tsx';
import { ExternalLink } from '../../kit/external-link.tsx';
import { Columns, Figure, PageHeader, Stack } from '../../kit/layout.tsx';
import { EmptyState, Skeleton } from '../../kit/states.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { Time } from '../../kit/time.tsx';
import { AttemptsView } from './attempts-view.tsx';
import { CodeSamplesDialog } from './code-dialog.tsx';
import { ContentView } from './content-view.tsx';
import { FieldsView } from './fields-view.tsx';
import { FilesView } from './files-view.tsx';
import { LinksView } from './links-view.tsx';
import { useNeighbours } from './neighbours.ts';
import { type JobRow, resultQuery, rowQuery, whyQuery } from './queries.ts';
import { ResponseView } from './response-view.tsx';
import { PAGE_VIEWS, type PageView } from './routes.ts';
import { rowParams, useRowSearch } from './row-search.ts';
import { VersionsView } from './versions-view.tsx';

const route = getRouteApi('/signed-in/jobs/$id/url');

const VIEW_NAMES: Readonly<Record<PageView, string>> = {
  why: 'Timeline',
  content: 'Content',
  fields: 'Fields',
  links: 'Links',
  versions: 'Versions',
  response: 'Response',
  files: 'Files',
};

/** One URL of a job: what happened to it, and everything that was stored of it. */
export function UrlPage() {
  const { id: jobId } = route.useParams();
  const { u: url, view = 'why' } = route.useSearch();
  if (url === '') {
    return (
      <EmptyState title="No URL in the address">
        <Link to="/jobs">Choose a job</Link> and open one of its pages.
      </EmptyState>
    );
  }
  return <OneUrl key={`${jobId} ${url}`} jobId={jobId} url={url} view={view} />;
}

function OneUrl({
  jobId,
  url,
  view,
}: {
  readonly jobId: string;
  readonly url: string;
  readonly view: PageView;
}) {
  const navigate = route.useNavigate();
  const row = useQuery(rowQuery(jobId, url));
  const why = useQuery(whyQuery(jobId, url));
  const page = useQuery(resultQuery(jobId, url));
  const number = route.useSearch().p?.toString() ?? row.data?.page;
  const props = { jobId, url, why, page, number };
  const views: Readonly<Record<PageView, ReactNode>> = {
    why: <AttemptsView {...props} />,
    content: <ContentView {...props} />,
    fields: <FieldsView {...props} />,
    links: <LinksView {...props} />,
    versions: <VersionsView url={url} />,
    response: <ResponseView {...props} />,
    files: <FilesView {...props} />,
  };
  return (
    <>
      <Head jobId={jobId} url={url} title={row.data?.title ?? page.data?.title ?? null} />
      <Stack>
        <Facts row={row.data} isLoading={row.isPending} />
        <Tabs
          label="What is known of the page"
          value={view}
          onChange={(next) =>
            void navigate({ search: (old) => ({ ...old, view: next }), replace: true, resetScroll: false })
          }
          tabs={PAGE_VIEWS.map((each) => ({ value: each, label: VIEW_NAMES[each], content: views[each] }))}
        />
      </Stack>
    </>
  );
}

function Head({
  jobId,
  url,
  title,
}: {
  readonly jobId: string;
  readonly url: string;
  readonly title: string | null;
}) {
  const [search] = useRowSearch();
  const { previous, next } = useNeighbours(jobId);
  useEffect(() => {
    const onKey = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      if (ctrlKey || metaKey || altKey) return;
      if (target instanceof Element && target.closest('input, select, textarea, [role="dialog"]')) return;
      if (key === 'j') next?.();
      else if (key === 'k') previous?.();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [previous, next]);
  return (
    <PageHeader
      title={title ?? shortUrl(url)}
      about={<ExternalLink url={url} />}
      above={
        <Link to="/jobs/$id" params={{ id: jobId }} search={{ tab: 'pages', ...rowParams(search) }}>
          Pages of the job
        </Link>
      }
      actions={
        <>
          <IconButton
            icon={ArrowLeft}
            kind="normal"
            label="Previous page (k)"
            disabled={previous === null}
            onClick={() => previous?.()}
          />
          <IconButton
            icon={ArrowRight}
            kind="normal"
            label="Next page (j)"
            disabled={next === null}
            onClick={() => next?.()}
          />
          <CodeSamplesDialog
            title="This page as code"
            request={{ method: 'GET', path: pathOf('/v1/jobs/{id}/results', { id: jobId }, { url }) }}
          />
          <LinkButton icon={Bell} to="/monitors" search={{ new: true, url }}>
            Watch
          </LinkButton>
          <LinkButton icon={FlaskConical} kind="primary" to="/playground" search={{ url } as never}>
            Open in playground
          </LinkButton>
        </>
      }
    />
  );
}

/** The figures of the row; of the same height while they are on their way. */
function Facts({ row, isLoading }: { readonly row: JobRow | null | undefined; readonly isLoading: boolean }) {
  if (isLoading) return <Skeleton lines={1} height={74} />;
  if (row === null || row === undefined) return null;
  return (
    <Columns min="narrow">
      <Figure
        label="State"
        value={<StatusBadge status={row.state} />}
        about={row.finishedAt === null ? words(row.kind) : <Time at={row.finishedAt} />}
      />
      <Figure
        label="HTTP status"
        value={<HttpStatus code={row.statusCode} />}
        about={row.contentType?.split(';')[0]}
      />
      <Figure
        label="Size"
        value={row.bytes === null ? '–' : formatBytes(row.bytes)}
        about={row.durationMs === null ? undefined : `in ${formatDuration(row.durationMs)}`}
      />
      <Figure
        label="Attempts"
        value={formatNumber(row.attempts)}
        about={`${row.engine ?? 'no engine'} · ${plural(row.credits, 'credit')}`}
      />
      <Figure
        label="Found"
        value={`Depth ${row.depth}`}
        about={row.foundOn === null ? words(row.foundBy) : `on ${shortUrl(row.foundOn)}`}
      />
    </Columns>
  );
}
