import { getRouteApi } from '@tanstack/react-router';
import { ListPlus, ListTree, SearchX } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Job } from '../../api/types.ts';
import { plural } from '../../format/format.ts';
import { Button, LinkButton } from '../../kit/button.tsx';
import { Card, PageHeader, Row, Stack } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { useNow } from '../../kit/time.tsx';
import type { JobsSearch } from './address.ts';
import { jobColumns } from './job-columns.tsx';
import { JobFilters } from './job-filters.tsx';
import styles from './jobs.module.css';
import { listFilter } from './queries.ts';
import { allowedActions, type JobAction, type JobActions, useJobActions } from './use-job-actions.tsx';

const route = getRouteApi('/signed-in/jobs');
const PAGE_SIZE = 50;

export function JobsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: JobsSearch) => void navigate({ search: next, replace: true });
  const list = useList<Job>(['jobs', 'list', search], (cursor, signal) => {
    const query = { ...listFilter(search, Date.now()), limit: PAGE_SIZE, ...(cursor && { cursor }) };
    return api.get('/v1/jobs', { query, signal });
  });
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <>
      <PageHeader
        title="Jobs"
        about="Crawls, batches and maps of this account, the newest first. The list follows them live."
        actions={
          <LinkButton kind="primary" icon={ListPlus} to="/jobs/new" search={{}}>
            New job
          </LinkButton>
        }
      />
      <Stack>
        <JobFilters search={search} onChange={change} />
        <Card isFlush>
          <ListView list={list} empty={isFiltered ? <NoMatch onClear={() => change({})} /> : <FirstJob />}>
            {(jobs) => <JobList jobs={jobs} />}
          </ListView>
        </Card>
      </Stack>
    </>
  );
}

function JobList({ jobs }: { readonly jobs: readonly Job[] }) {
  const now = useNow();
  const actions = useJobActions(() => setChosen(new Set()));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const selected = jobs.filter(({ id }) => chosen.has(id));
  const selection = {
    has: (id: string) => chosen.has(id),
    toggle: (id: string) => setChosen(toggled(chosen, id)),
    isAll: jobs.length > 0 && selected.length === jobs.length,
    toggleAll: () =>
      setChosen(selected.length === jobs.length ? new Set() : new Set(jobs.map(({ id }) => id))),
  };
  // A filter by domain or words may find nothing in one step of the list, and more in the next.
  if (jobs.length === 0) return <EmptyState icon={SearchX} title="None among the jobs looked at so far" />;
  return (
    <>
      {selected.length > 0 && (
        <BulkBar jobs={selected} actions={actions} onClear={() => setChosen(new Set())} />
      )}
      <Table label="Jobs" rows={jobs} keyOf={({ id }) => id} columns={jobColumns(actions, selection, now)} />
      {actions.dialog}
    </>
  );
}

const toggled = (chosen: ReadonlySet<string>, id: string): ReadonlySet<string> =>
  chosen.has(id) ? new Set([...chosen].filter((each) => each !== id)) : new Set([...chosen, id]);

const BULK: readonly (readonly [JobAction, string])[] = [
  ['cancel', 'Cancel'],
  ['resume', 'Resume'],
  ['retry', 'Retry failed'],
  ['delete', 'Delete'],
];

/** Actions on the chosen jobs; each counts those that allow it. */
function BulkBar({
  jobs,
  actions,
  onClear,
}: {
  readonly jobs: readonly Job[];
  readonly actions: JobActions;
  readonly onClear: () => void;
}) {
  return (
    <div className={styles.bulk} role="toolbar" aria-label="Actions on the selected jobs">
      <strong>{`${plural(jobs.length, 'job')} selected`}</strong>
      <Row>
        {BULK.map(([action, name]) => {
          const able = jobs.filter((job) => allowedActions(job)[action]);
          return (
            <Button
              key={action}
              size="small"
              kind={action === 'delete' ? 'danger' : 'normal'}
              disabled={able.length === 0}
              isBusy={actions.isBusy}
              onClick={() => actions.run(action, able)}
            >
              {able.length === jobs.length ? name : `${name} (${able.length})`}
            </Button>
          );
        })}
        <Button size="small" kind="quiet" onClick={onClear}>
          Clear selection
        </Button>
      </Row>
    </div>
  );
}

const NoMatch = ({ onClear }: { readonly onClear: () => void }) => (
  <EmptyState
    icon={SearchX}
    title="No job fits the filters"
    actions={<Button onClick={onClear}>Clear filters</Button>}
  >
    Words are looked for in the id and the start URLs of jobs. Widen the filters, or clear them.
  </EmptyState>
);

const FirstJob = () => (
  <EmptyState
    icon={ListTree}
    title="No jobs yet"
    actions={
      <LinkButton kind="primary" icon={ListPlus} to="/jobs/new" search={{}}>
        Start the first crawl
      </LinkButton>
    }
  >
    A job fetches many pages: a crawl follows the links of a site, a batch takes a list of URLs. Here you
    follow its progress, see why pages failed, and export the results.
  </EmptyState>
);
