import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, pathOf } from '../../../api/client.ts';
import { formatBytes } from '../../../format/format.ts';
import { HrefButton } from '../../../kit/button.tsx';
import { Segmented } from '../../../kit/field.tsx';
import { Row, Stack } from '../../../kit/layout.tsx';
import { SandboxFrame } from '../../../kit/sandbox-frame.tsx';
import { EmptyState, Notice, QueryView } from '../../../kit/states.tsx';
import styles from './result.module.css';
import type { Run } from './run.ts';

/** The number of a scrape's page within its job, as addresses of artifacts and previews have it. */
const pageNumberQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['playground', 'page-number', jobId],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const { items } = await api.get('/v1/jobs/{id}/rows', {
        params: { id: jobId },
        query: { limit: 1 },
        signal,
      });
      return items[0]?.page ?? null;
    },
  });

/** Artifacts are on this server, whatever name it was reached by. */
export const localPath = (address: string): string => {
  const url = URL.parse(address, location.origin);
  return url === null ? address : url.pathname + url.search;
};

type Look = 'screenshot' | 'failure' | 'render';

/** The page as it looked: a picture where one was taken, else the stored HTML without scripts and network. */
export function PageTab({ run }: { readonly run: Run }) {
  const { screenshot, pdf, error, actions } = run.page;
  const failure = error?.details?.screenshot;
  const looks: { value: Look; label: string }[] = [
    ...(screenshot ? [{ value: 'screenshot' as const, label: 'Screenshot' }] : []),
    ...(failure ? [{ value: 'failure' as const, label: 'When it failed' }] : []),
    { value: 'render', label: 'Stored HTML' },
  ];
  const [chosen, setChosen] = useState<Look | null>(null);
  const look = looks.find(({ value }) => value === chosen)?.value ?? looks[0]?.value ?? 'render';
  const picture = look === 'screenshot' ? screenshot : look === 'failure' ? failure : null;
  const steps = (actions ?? []).flatMap(({ screenshot: shot, type }, index) =>
    shot ? [{ shot, label: `Picture after action ${index + 1} (${type})` }] : [],
  );
  return (
    <Stack>
      {(looks.length > 1 || pdf) && (
        <Row align="between">
          {looks.length > 1 && (
            <Segmented label="How the page is shown" value={look} options={looks} onChange={setChosen} />
          )}
          {pdf && (
            <HrefButton href={localPath(pdf.url)} target="_blank" rel="noopener" size="small">
              {`PDF (${formatBytes(pdf.bytes)})`}
            </HrefButton>
          )}
        </Row>
      )}
      {picture ? (
        <img
          className={styles.picture}
          src={localPath(picture.url)}
          alt={`The page ${run.page.finalUrl} as a browser showed it`}
        />
      ) : (
        <StoredRender run={run} />
      )}
      {steps.map(({ shot, label }) => (
        <figure key={shot.url}>
          <figcaption className={styles.faint}>{label}</figcaption>
          <img className={styles.picture} src={localPath(shot.url)} alt={label} />
        </figure>
      ))}
    </Stack>
  );
}

function StoredRender({ run }: { readonly run: Run }) {
  const number = useQuery(pageNumberQuery(run.jobId));
  const { contentType } = run.page;
  if (!/html/i.test(contentType ?? 'html')) {
    return (
      <EmptyState title="Nothing to render">
        {`The server sent ${contentType}, which is no web page. Its text is under “Markdown” and “Data”.`}
      </EmptyState>
    );
  }
  return (
    <QueryView query={number} skeleton={<div className={styles.frameSpace} />}>
      {(page) =>
        page === null ? (
          <EmptyState title="No stored page">The body of this page has expired.</EmptyState>
        ) : (
          <Stack gap="small">
            <Notice>
              The stored page without scripts, pictures and network: nothing is loaded from the site. Ask for
              a screenshot to see it as a browser does.
            </Notice>
            <SandboxFrame
              src={pathOf('/v1/jobs/{id}/pages/{page}/preview', { id: run.jobId, page })}
              title={`Stored page ${run.page.finalUrl}`}
            />
          </Stack>
        )
      }
    </QueryView>
  );
}
