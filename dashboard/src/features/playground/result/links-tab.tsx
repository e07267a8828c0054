import { Link2 } from 'lucide-react';
import { useDeferredValue, useMemo, useState } from 'react';
import type { Page } from '../../../api/types.ts';
import { plural } from '../../../format/format.ts';
import { DataGrid, type GridColumn } from '../../../kit/data-grid.tsx';
import { ExternalLink } from '../../../kit/external-link.tsx';
import { Field, Segmented, TextInput } from '../../../kit/field.tsx';
import { Row, Stack } from '../../../kit/layout.tsx';
import { arraySource } from '../../../kit/row-source.ts';
import { EmptyState } from '../../../kit/states.tsx';
import { FormatView } from './format-view.tsx';
import styles from './result.module.css';
import type { Run } from './run.ts';

type PageLink = NonNullable<Page['links']>[number];
type Where = 'all' | 'inside' | 'outside';

const COLUMNS: readonly GridColumn<PageLink>[] = [
  {
    id: 'text',
    head: 'Text',
    width: 160,
    grow: 1,
    cell: ({ text }) => text || <span className={styles.faint}>no text</span>,
  },
  { id: 'url', head: 'URL', width: 280, grow: 2, cell: ({ url }) => <ExternalLink url={url} /> },
  { id: 'rel', head: 'rel', width: 110, cell: ({ rel }) => rel || '–' },
  { id: 'from', head: 'From', width: 90, cell: ({ from }) => from },
];

export const LinksTab = ({ run }: { readonly run: Run }) => (
  <FormatView run={run} format="links">
    {(links) => <Links links={links} pageUrl={run.page.finalUrl} />}
  </FormatView>
);

function Links({ links, pageUrl }: { readonly links: readonly PageLink[]; readonly pageUrl: string }) {
  const [where, setWhere] = useState<Where>('all');
  const [typed, setTyped] = useState('');
  const filter = useDeferredValue(typed.trim().toLowerCase());
  const shown = useMemo(() => {
    const host = URL.parse(pageUrl)?.host;
    return links.filter(
      ({ url, text }) =>
        (filter === '' || url.toLowerCase().includes(filter) || text.toLowerCase().includes(filter)) &&
        (where === 'all' || (URL.parse(url)?.host === host) === (where === 'inside')),
    );
  }, [links, filter, where, pageUrl]);
  const source = useMemo(() => arraySource(shown), [shown]);
  if (links.length === 0) {
    return (
      <EmptyState icon={Link2} title="No links">
        The page has none, or scripts add them: try the engine “Browser”.
      </EmptyState>
    );
  }
  return (
    <Stack gap="small">
      <Row align="between">
        <Row>
          <Field label="Filter links" isLabelHidden>
            <TextInput
              placeholder="Filter by text or URL"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          </Field>
          <Segmented
            label="Where links lead"
            value={where}
            onChange={setWhere}
            options={[
              { value: 'all', label: 'All' },
              { value: 'inside', label: 'This site' },
              { value: 'outside', label: 'Other sites' },
            ]}
          />
        </Row>
        <span className={styles.faint} role="status">
          {plural(shown.length, 'link')}
        </span>
      </Row>
      <div className={styles.grid}>
        <DataGrid
          label="Links of the page"
          columns={COLUMNS}
          source={source}
          empty={<EmptyState title="No link fits">Other words may.</EmptyState>}
          height="min(60dvh, 560px)"
        />
      </div>
    </Stack>
  );
}
