import { useQuery } from '@tanstack/react-query';
import { FileSearch } from 'lucide-react';
import { pathOf } from '../../api/client.ts';
import { Button } from '../../kit/button.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { CodeSamplesDialog } from './code-dialog.tsx';
import { DEFAULT_COLUMNS, NARROW_COLUMNS } from './page-columns.tsx';
import { summaryQuery } from './queries.ts';
import { type RowSearch, useRowSearch } from './row-search.ts';
import { RowsCard } from './rows-card.tsx';

const COLUMNS = { name: 'pages', wide: DEFAULT_COLUMNS, narrow: NARROW_COLUMNS };

/** The pages of a job. */
export function PagesTab({ jobId }: { readonly jobId: string }) {
  const [search, setSearch] = useRowSearch();
  const whole = useQuery(summaryQuery(jobId, {}));
  return (
    <RowsCard
      jobId={jobId}
      label="Pages of the job"
      search={search}
      asked={search}
      onSearch={setSearch}
      whole={whole.data}
      columns={COLUMNS}
      actions={
        <CodeSamplesDialog
          title="This list as code"
          request={{ method: 'GET', path: rowsPath(jobId, search) }}
        />
      }
      empty={
        <NoPages
          isFiltered={Object.keys(search.filter).length > 0}
          onClear={() => setSearch({ ...search, filter: {} })}
        />
      }
    />
  );
}

const rowsPath = (jobId: string, { filter, sort, order }: RowSearch): string =>
  pathOf('/v1/jobs/{id}/rows', { id: jobId }, { ...filter, sort, order, limit: 200 });

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
