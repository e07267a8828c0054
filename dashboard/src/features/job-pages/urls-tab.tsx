import { useQuery } from '@tanstack/react-query';
import { ListChecks } from 'lucide-react';
import { useMemo, useRef } from 'react';
import { Button } from '../../kit/button.tsx';
import { Stack } from '../../kit/layout.tsx';
import { EmptyState, QueryView, Skeleton } from '../../kit/states.tsx';
import { CauseList } from './cause-list.tsx';
import styles from './job-pages.module.css';
import { summaryQuery } from './queries.ts';
import { type RowSearch, useRowSearch } from './row-search.ts';
import { RowsCard } from './rows-card.tsx';
import { WhySearch } from './why-search.tsx';

const COLUMNS = {
  name: 'urls',
  wide: ['url', 'state', 'reason', 'rule', 'foundOn', 'discoveredAt'],
  narrow: ['url', 'state', 'reason'],
};
/** The ledger has everything that the job has met, sitemaps included. */
const EVERYTHING = { kind: 'any' } as const;

/** The ledger of a job: every URL it has seen, what became of it, by which rule, and what to do about it. */
export function UrlsTab({ jobId }: { readonly jobId: string }) {
  const [search, setSearch] = useRowSearch();
  const asked = useMemo<RowSearch>(
    () => ({ ...search, filter: { ...EVERYTHING, ...search.filter } }),
    [search],
  );
  const whole = useQuery(summaryQuery(jobId, EVERYTHING));
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
        <RowsCard
          jobId={jobId}
          label="URLs of the job"
          search={search}
          asked={asked}
          onSearch={setSearch}
          whole={whole.data}
          defaultKind="any"
          columns={COLUMNS}
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
      </div>
    </Stack>
  );
}
