import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { FileSearch } from 'lucide-react';
import { useMemo } from 'react';
import { pathOf } from '../../api/client.ts';
import { Button } from '../../kit/button.tsx';
import { DataGrid } from '../../kit/data-grid.tsx';
import { Card } from '../../kit/layout.tsx';
import { EmptyState, Skeleton } from '../../kit/states.tsx';
import { CodeSamplesDialog } from './code-dialog.tsx';
import { ColumnChooser, useChosenColumns } from './column-chooser.tsx';
import { DEFAULT_COLUMNS, NARROW_COLUMNS, pageColumns } from './page-columns.tsx';
import { summaryQuery } from './queries.ts';
import { RowFilters } from './row-filters.tsx';
import { type RowOrder, type RowSearch, rowParams, useRowSearch } from './row-search.ts';
import { useRows } from './use-rows.ts';

const NARROW = '(max-width: 720px)';

/** The URLs of a job as a grid: filtered, searched and sorted by the server, however many there are. */
export function PagesTab({ jobId }: { readonly jobId: string }) {
  const [search, setSearch] = useRowSearch();
  const { source } = useRows(jobId, search);
  const whole = useQuery(summaryQuery(jobId, {}));
  const isNarrow = matchMedia(NARROW).matches;
  const [chosen, choose] = useChosenColumns(
    isNarrow ? 'pages-narrow' : 'pages',
    isNarrow ? NARROW_COLUMNS : DEFAULT_COLUMNS,
  );
  const all = useMemo(() => pageColumns(jobId, isNarrow), [jobId, isNarrow]);
  const columns = useMemo(() => all.filter(({ id }) => chosen.includes(id)), [all, chosen]);
  const open = useOpenRow(jobId, search, source);

  return (
    <Card isFlush>
      <RowFilters search={search} whole={whole.data} onChange={setSearch}>
        <ColumnChooser columns={all} chosen={chosen} onChoose={choose} />
        <CodeSamplesDialog
          title="This list as code"
          request={{ method: 'GET', path: rowsPath(jobId, search) }}
        />
      </RowFilters>
      {source === null ? (
        <Skeleton lines={12} height={26} />
      ) : (
        <DataGrid
          key={JSON.stringify(search)}
          label="Pages of the job"
          columns={columns}
          source={source}
          sort={{ by: search.sort, direction: search.order }}
          onSort={({ by, direction }) => setSearch({ ...search, sort: by as RowOrder, order: direction })}
          onOpen={open}
          empty={
            <NoPages
              isFiltered={Object.keys(search.filter).length > 0}
              onClear={() => setSearch({ ...search, filter: {} })}
            />
          }
        />
      )}
    </Card>
  );
}

const rowsPath = (jobId: string, { filter, sort, order }: RowSearch): string =>
  pathOf('/v1/jobs/{id}/rows', { id: jobId }, { ...filter, sort, order, limit: 200 });

/** Opens the page of a row, with the list it was opened from, so that its neighbours can be reached from there. */
export function useOpenRow(
  jobId: string,
  search: RowSearch,
  source: ReturnType<typeof useRows>['source'],
): (row: { readonly url: string; readonly page: string }, index: number) => void {
  const navigate = useNavigate();
  return ({ url, page }, index) => {
    const place = source?.placeOf(index) ?? null;
    const list = place === null ? {} : { ...rowParams(search), at: place.cursor, n: place.offset };
    void navigate({
      to: '/jobs/$id/url',
      params: { id: jobId },
      search: { u: url, p: Number(page), ...list },
    });
  };
}

const NoPages = ({ isFiltered, onClear }: { readonly isFiltered: boolean; readonly onClear: () => void }) =>
  isFiltered ? (
    <EmptyState
      icon={FileSearch}
      title="No page fits the filter"
      actions={<Button onClick={onClear}>Clear the filter</Button>}
    >
      Take a word out of the search, or choose another state.
    </EmptyState>
  ) : (
    <EmptyState icon={FileSearch} title="No pages yet">
      The pages of the job appear here as soon as it has found the first URL.
    </EmptyState>
  );
