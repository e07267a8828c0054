import { Download, FileBox } from 'lucide-react';
import type { Artifact, Page } from '../../api/types.ts';
import { formatBytes, words } from '../../format/format.ts';
import { HrefButton } from '../../kit/button.tsx';
import { Card } from '../../kit/layout.tsx';
import { EmptyState, QueryView, Skeleton } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { NothingStored } from './content-view.tsx';
import { artifactHref } from './page-address.ts';
import type { PageViewProps } from './page-props.ts';
import styles from './page-views.module.css';

interface StoredFile {
  readonly name: string;
  readonly file: Artifact;
}

function filesOf({ screenshot, pdf, actions = [], xhr, error }: Page): readonly StoredFile[] {
  const named = (name: string, file: Artifact | null | undefined): StoredFile[] =>
    file ? [{ name, file }] : [];
  return [
    ...named('Screenshot', screenshot),
    ...named('PDF', pdf),
    ...actions.flatMap(({ type, screenshot: picture }, index) =>
      named(`Action ${index + 1} (${words(type)})`, picture),
    ),
    ...named('Screenshot at the failed step', error?.details?.screenshot),
    ...named('HTML at the failed step', error?.details?.html),
    ...(xhr ?? []).flatMap(({ url, method, body }) => named(`${method} ${url}`, body)),
  ];
}

/** Pictures, documents and recorded answers of the page, to be saved. */
export function FilesView({ page }: PageViewProps) {
  return (
    <QueryView query={page} skeleton={<Skeleton lines={5} />}>
      {(found) => {
        if (found === null) return <NothingStored />;
        const files = filesOf(found);
        return (
          <Card title="Files" isFlush={files.length > 0}>
            {files.length === 0 ? (
              <EmptyState icon={FileBox} title="No files">
                Screenshots, PDFs and recorded requests are kept when a crawl asks for them in{' '}
                <code>formats</code>.
              </EmptyState>
            ) : (
              <Table
                label="Files"
                rows={files}
                keyOf={({ file }) => file.url}
                columns={[
                  {
                    id: 'name',
                    head: 'File',
                    cell: ({ name }) => <span className={styles.value}>{name}</span>,
                  },
                  { id: 'type', head: 'Type', isSecondary: true, cell: ({ file }) => file.contentType },
                  { id: 'size', head: 'Size', align: 'end', cell: ({ file }) => formatBytes(file.bytes) },
                  {
                    id: 'save',
                    head: <span className="visually-hidden">Download</span>,
                    align: 'end',
                    cell: ({ name, file }) => (
                      <HrefButton
                        icon={Download}
                        size="small"
                        href={artifactHref(file.url)}
                        download=""
                        aria-label={`Download ${name}`}
                      >
                        Download
                      </HrefButton>
                    ),
                  },
                ]}
              />
            )}
          </Card>
        );
      }}
    </QueryView>
  );
}
