import { useQuery } from '@tanstack/react-query';
import { ListChecks } from 'lucide-react';
import { useMemo, useRef } from 'react';
import { Button } from '../../kit/button.tsx';
import { DataGrid } from '../../kit/data-grid.tsx';
import { Card, Stack } from '../../kit/layout.tsx';
import { EmptyState, QueryView, Skeleton } from '../../kit/states.tsx';
import { CauseList } from './cause-list.tsx';
import { ColumnChooser, useChosenColumns } from './column-chooser.tsx';
import styles from './job-pages.module.css';
import { pageColumns } from './page-columns.tsx';
import { useOpenRow } from './pages-tab.tsx';
import { summaryQuery } from './queries.ts';
import { RowFilters } from './row-filters.tsx';
import { type RowOrder, type RowSearch, useRowSearch } from './row-search.ts';
import { useRows } from './use-rows.ts';
import { WhySearch } from './why-search.tsx';

const COLUMNS = ['url', 'state', 'reason', 'rule', 'foundOn', 'discoveredAt'];
const NARROW_COLUMNS = ['url', 'state', 'reason'];
/** The ledger has everything that the job has met, sitemaps included. */
const EVERYTHING = { kind: 'any' } as const;

/** The ledger of a job: every URL it has seen, what became of it, by which rule, and what to do about it. */
export function UrlsTab({ jobId }: { readonly jobId: string }) {
  const [search, setSearch] = useRowSearch();
  const asked = useMemo<RowSearch>(
    () => ({ ...search, filter: { ...EVERYTHING, ...search.filter } }),
    [search],
  );
  const { source } = useRows(jobId, asked);
  const whole = useQuery(summaryQuery(jobId, EVERYTHING));
  const isNarrow = matchMedia('(max-width: 720px)').matches;
  const [chosen, choose] = useChosenColumns(
    isNarrow ? 'urls-narrow' : 'urls',
    isNarrow ? NARROW_COLUMNS : COLUMNS,
  );
  const all = useMemo(() => pageColumns(jobId, isNarrow), [jobId, isNarrow]);
  const columns = useMemo(() => all.filter(({ id }) => chosen.includes(id)), [all, chosen]);
  const open = useOpenRow(jobId, asked, source);
  const list = useRef<HTMLDivElement>(null);
  const narrowTo = (filter: RowSearch['filter']) => setSearch({ ...search, filter });

  return (
    <Stack>
      <WhySearch
        jobId={jobId}
        causes={whole.data?.causes ?? []}
        onWords={(text) => narrowTo(text === '' ? {} : { text })}
      />
      <QueryView query={whole} skeleton={<Skeleton lines={4} height={32} />}>
        {({ causes }) => (
          <CauseList
            causes={causes}
            onChoose={({ state, cause }) => {
              narrowTo({ state, reason: cause });
              list.current?.scrollIntoView({ block: 'start' });
            }}
          />
        )}
      </QueryView>
      <div ref={list} className={styles.list}>
        <Card isFlush>
          <RowFilters search={search} whole={whole.data} defaultKind="any" onChange={setSearch}>
            <ColumnChooser columns={all} chosen={chosen} onChoose={choose} />
          </RowFilters>
          {source === null ? (
            <Skeleton lines={12} height={26} />
          ) : (
            <DataGrid
              key={JSON.stringify(search)}
              label="URLs of the job"
              columns={columns}
              source={source}
              sort={{ by: search.sort, direction: search.order }}
              onSort={({ by, direction }) => setSearch({ ...search, sort: by as RowOrder, order: direction })}
              onOpen={open}
              empty={
                <EmptyState
                  icon={ListChecks}
                  title="No URL fits"
                  actions={<Button onClick={() => narrowTo({})}>Show all URLs</Button>}
                >
                  The job has met no URL of this kind. Ask above about one URL to learn why it is not here.
                </EmptyState>
              }
            />
          )}
        </Card>
      </div>
    </Stack>
  );
}
