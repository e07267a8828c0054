import { getRouteApi } from '@tanstack/react-router';
import { GitCompareArrows } from 'lucide-react';
import type { Job } from '../../api/types.ts';
import { Card, Stack } from '../../kit/layout.tsx';
import { EmptyState, Notice } from '../../kit/states.tsx';
import { ChangeList } from './change-list.tsx';
import styles from './compare.module.css';
import { useEarlierJobs } from './earlier-jobs.ts';
import { JobPicker } from './job-picker.tsx';
import { isOpen } from './queries.ts';

const route = getRouteApi('/signed-in/jobs/$id');

/** What has changed on the site between an earlier job and this one. */
export function CompareTab({ job }: { readonly job: Job }) {
  const search = route.useSearch();
  const earlier = useEarlierJobs(job);
  const against = search.against ?? earlier.previous?.id ?? '';
  const navigate = route.useNavigate();
  const choose = (id: string) =>
    void navigate({
      search: { tab: 'compare', against: id },
      replace: true,
      resetScroll: false,
    });
  return (
    <Stack>
      <Card>
        <div className={styles.picker}>
          <JobPicker
            label="Compare with an earlier job"
            hint="Both are compared from what is stored; nothing is fetched."
            jobs={earlier}
            value={against}
            onChange={choose}
          />
        </div>
      </Card>
      {isOpen(job) && (
        <Notice tone="info">This job still runs: what it has not reached yet shows as not covered.</Notice>
      )}
      {against === '' ? (
        <Card>
          <EmptyState icon={GitCompareArrows} title="Choose the job to compare with">
            You see which pages were added, removed, changed or moved between the two, and open each change
            side by side.
          </EmptyState>
        </Card>
      ) : (
        <ChangeList key={against} jobId={job.id} against={against} />
      )}
    </Stack>
  );
}
