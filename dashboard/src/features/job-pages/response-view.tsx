import type { Page } from '../../api/types.ts';
import { formatBytes, words } from '../../format/format.ts';
import { HttpStatus } from '../../kit/badge.tsx';
import { ExternalLink } from '../../kit/external-link.tsx';
import { Card, Columns, KeyValues, Stack } from '../../kit/layout.tsx';
import { QueryView, Skeleton } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { NothingStored } from './content-view.tsx';
import type { PageViewProps } from './page-props.ts';
import styles from './page-views.module.css';

/** What the server answered: status, redirects, headers and cookies. */
export function ResponseView({ page }: PageViewProps) {
  return (
    <QueryView query={page} skeleton={<Skeleton lines={8} />}>
      {(found) => (found === null ? <NothingStored /> : <Response page={found} />)}
    </QueryView>
  );
}

function Response({ page }: { readonly page: Page }) {
  const { redirects = [], cookies = [], headers = {}, error } = page;
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each, index) => ({ key: `${name} ${index}`, name, value: each })),
  );
  return (
    <Stack>
      <Columns min="wide">
        <Card title="Response">
          <KeyValues
            entries={[
              ['Status', <HttpStatus key="status" code={page.statusCode} />],
              ['What it is', page.outcome ? words(page.outcome) : undefined],
              ['Evidence', page.evidence ?? undefined],
              ['Problem', error === undefined ? undefined : `${error.code}: ${error.message}`],
              ['Final URL', <ExternalLink key="final" url={page.finalUrl} />],
              ['Content type', page.contentType],
              ['Size', formatBytes(page.bytes)],
              ['Fetched', <Time key="at" at={page.fetchedAt} />],
              ['SHA-256', page.contentHash === null ? undefined : <code key="hash">{page.contentHash}</code>],
              ['Repeats', page.duplicateOf ?? undefined],
              ['From the cache', page.cache?.hit ? <Time key="cache" at={page.cache.storedAt} /> : undefined],
            ]}
          />
        </Card>
        <Card title="Redirects" isFlush={redirects.length > 0}>
          {redirects.length === 0 ? (
            <p className={styles.note}>None: the server answered at this URL.</p>
          ) : (
            <Table
              label="Redirects"
              rows={redirects}
              keyOf={({ url }) => url}
              columns={[
                { id: 'status', head: 'Status', cell: ({ statusCode }) => <HttpStatus code={statusCode} /> },
                { id: 'url', head: 'URL', isWide: true, cell: ({ url }) => <ExternalLink url={url} /> },
              ]}
            />
          )}
        </Card>
      </Columns>
      <Card title="Headers" isFlush={lines.length > 0}>
        {lines.length === 0 ? (
          <p className={styles.note}>The job did not keep the headers of this response.</p>
        ) : (
          <Table
            label="Headers"
            rows={lines}
            keyOf={({ key }) => key}
            columns={[
              { id: 'name', head: 'Name', cell: ({ name }) => <code>{name}</code> },
              {
                id: 'value',
                head: 'Value',
                cell: ({ value }) => <span className={styles.value}>{value}</span>,
              },
            ]}
          />
        )}
      </Card>
      {cookies.length > 0 && (
        <Card title="Cookies" isFlush>
          <Table
            label="Cookies"
            rows={cookies}
            keyOf={({ name, domain, path }) => `${name} ${domain} ${path}`}
            columns={[
              { id: 'name', head: 'Name', cell: ({ name }) => <code>{name}</code> },
              {
                id: 'value',
                head: 'Value',
                cell: ({ value }) => <span className={styles.value}>{value}</span>,
              },
              { id: 'domain', head: 'Domain', isSecondary: true, cell: ({ domain }) => domain ?? '–' },
              {
                id: 'flags',
                head: 'Attributes',
                isSecondary: true,
                cell: ({ isSecure, isHttpOnly, sameSite }) =>
                  [isSecure && 'secure', isHttpOnly && 'http only', sameSite].filter(Boolean).join(', ') ||
                  '–',
              },
              { id: 'expires', head: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
            ]}
          />
        </Card>
      )}
    </Stack>
  );
}
