import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { DataGrid } from '../../kit/data-grid.tsx';
import { Card } from '../../kit/layout.tsx';
import { Skeleton } from '../../kit/states.tsx';
import { ColumnChooser, useChosenColumns } from './column-chooser.tsx';
import { pageColumns } from './page-columns.tsx';
import { RowFilters } from './row-filters.tsx';
import { type RowOrder, type RowSearch, rowParams } from './row-search.ts';
import { useRows } from './use-rows.ts';

const NARROW = '(max-width: 720px)';

interface RowsCardProps {
  readonly jobId: string;
  readonly label: string;
  /** As it stands in the address. */
  readonly search: RowSearch;
  /** As the server is asked; the same, but for what the list always leaves out. */
  readonly asked: RowSearch;
  readonly onSearch: (search: RowSearch) => void;
  /** Counts of the whole job, for the choices of the filters. */
  readonly whole: Parameters<typeof RowFilters>[0]['whole'];
  readonly defaultKind?: Parameters<typeof RowFilters>[0]['defaultKind'];
  /** The columns that are shown until others are chosen, and under which name the choice is kept. */
  readonly columns: {
    readonly name: string;
    readonly wide: readonly string[];
    readonly narrow: readonly string[];
  };
  /** Buttons beside the filters. */
  readonly actions?: ReactNode;
  readonly empty: ReactNode;
}

/** URLs of a job as a grid, with filters: searched and sorted by the server, however many there are. */
export function RowsCard(props: RowsCardProps) {
  const { jobId, label, search, asked, onSearch, columns: shown, defaultKind } = props;
  const { source } = useRows(jobId, asked);
  const isNarrow = matchMedia(NARROW).matches;
  const [chosen, choose] = useChosenColumns(
    isNarrow ? `${shown.name}-narrow` : shown.name,
    isNarrow ? shown.narrow : shown.wide,
  );
  const all = useMemo(() => pageColumns(jobId, isNarrow), [jobId, isNarrow]);
  const columns = useMemo(() => all.filter(({ id }) => chosen.includes(id)), [all, chosen]);
  const open = useOpenRow(jobId, asked, source);
  return (
    <Card isFlush>
      <RowFilters
        search={search}
        whole={props.whole}
        onChange={onSearch}
        {...(defaultKind !== undefined && { defaultKind })}
      >
        <ColumnChooser columns={all} chosen={chosen} onChoose={choose} />
        {props.actions}
      </RowFilters>
      {source === null ? (
        <Skeleton lines={12} height={26} />
      ) : (
        <DataGrid
          key={JSON.stringify(search)}
          label={label}
          columns={columns}
          source={source}
          sort={{ by: search.sort, direction: search.order }}
          onSort={({ by, direction }) => onSearch({ ...search, sort: by as RowOrder, order: direction })}
          onOpen={open}
          empty={props.empty}
        />
      )}
    </Card>
  );
}

/** Opens the page of a row, with the list it was opened from, so that its neighbours can be reached from there. */
function useOpenRow(
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
