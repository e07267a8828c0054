import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import {
  ArrowLeft,
  CircleX,
  Copy,
  Download,
  EllipsisVertical,
  GitCompareArrows,
  Play,
  RotateCw,
  Trash2,
} from 'lucide-react';
import type { ReactNode } from 'react';
import type { Job } from '../../api/types.ts';
import { plural } from '../../format/format.ts';
import { Badge, StatusBadge } from '../../kit/badge.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import { CopyButton } from '../../kit/copy-button.tsx';
import { PageHeader, Row } from '../../kit/layout.tsx';
import { lazyPart, PartPlace } from '../../kit/lazy-part.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../kit/menu.tsx';
import { QueryView, Skeleton } from '../../kit/states.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { Time } from '../../kit/time.tsx';
import type { JobTab } from './address.ts';
import { jobName } from './job-name.ts';
import styles from './jobs.module.css';
import { OverviewTab } from './overview-tab.tsx';
import { jobQuery } from './queries.ts';
import { allowedActions, type JobActions, useJobActions } from './use-job-actions.tsx';

const PagesTab = lazyPart(() => import('../job-pages/pages-tab.tsx'), 'PagesTab');
const UrlsTab = lazyPart(() => import('../job-pages/urls-tab.tsx'), 'UrlsTab');
const TreeTab = lazyPart(() => import('../job-pages/tree-tab.tsx'), 'TreeTab');
const ExportsTab = lazyPart(() => import('./exports-tab.tsx'), 'ExportsTab');
const CompareTab = lazyPart(() => import('./compare-tab.tsx'), 'CompareTab');
const SettingsTab = lazyPart(() => import('./settings-tab.tsx'), 'SettingsTab');

const route = getRouteApi('/signed-in/jobs/$id');

export function JobPage() {
  const { id } = route.useParams();
  const query = useQuery(jobQuery(id));
  return (
    <QueryView isPage query={query} skeleton={<Skeleton lines={4} height={64} />}>
      {(job) => <OneJob job={job} />}
    </QueryView>
  );
}

function OneJob({ job }: { readonly job: Job }) {
  const { tab = 'overview' } = route.useSearch();
  const navigate = useNavigate();
  const actions = useJobActions(() => void navigate({ to: '/jobs', search: {} }));
  const open = (next: JobTab) =>
    void navigate({ to: '/jobs/$id', params: { id: job.id }, search: { tab: next }, resetScroll: false });
  return (
    <>
      <PageHeader
        windowTitle={jobName(job)}
        above={
          <Link to="/jobs" search={{}} className={styles.back}>
            <ArrowLeft size={13} aria-hidden /> Jobs
          </Link>
        }
        title={jobName(job)}
        about={<About job={job} />}
        actions={<HeaderActions job={job} actions={actions} onOpen={open} />}
      />
      <Tabs
        label="Parts of the job"
        value={tab}
        onChange={open}
        tabs={[
          { value: 'overview', label: 'Overview', content: <OverviewTab job={job} actions={actions} /> },
          { value: 'pages', label: 'Pages', content: lately(<PagesTab jobId={job.id} />) },
          { value: 'urls', label: 'URLs', content: lately(<UrlsTab jobId={job.id} />) },
          { value: 'tree', label: 'Tree', content: lately(<TreeTab jobId={job.id} />) },
          { value: 'exports', label: 'Exports', content: lately(<ExportsTab job={job} />) },
          { value: 'compare', label: 'Compare', content: lately(<CompareTab job={job} />) },
          { value: 'settings', label: 'Settings', content: lately(<SettingsTab job={job} />) },
        ]}
      />
      {actions.dialog}
    </>
  );
}

const lately = (content: ReactNode) => (
  <PartPlace meanwhile={<Skeleton lines={6} height={40} />}>{content}</PartPlace>
);

const About = ({ job }: { readonly job: Job }) => (
  <Row>
    <StatusBadge status={job.status} />
    <Badge>{job.kind}</Badge>
    <span>
      created <Time at={job.createdAt} />
    </span>
    {job.seeds.length > 1 && <span>{`from ${plural(job.seeds.length, 'URL')}`}</span>}
    {job.scheduleId !== undefined && <Link to="/schedules">by a schedule</Link>}
    <CopyButton text={job.id} label="Copy job id" isIcon />
  </Row>
);

/** The next step stands as a button, the rest in a menu. */
function HeaderActions({
  job,
  actions,
  onOpen,
}: {
  readonly job: Job;
  readonly actions: JobActions;
  readonly onOpen: (tab: JobTab) => void;
}) {
  const allowed = allowedActions(job);
  return (
    <>
      {allowed.cancel && (
        <Button icon={CircleX} onClick={() => actions.run('cancel', [job])}>
          Cancel
        </Button>
      )}
      {allowed.resume && (
        <Button icon={Play} isBusy={actions.isBusy} onClick={() => actions.run('resume', [job])}>
          Resume
        </Button>
      )}
      {allowed.retry && (
        <Button icon={RotateCw} isBusy={actions.isBusy} onClick={() => actions.run('retry', [job])}>
          Retry failed
        </Button>
      )}
      <Button kind="primary" icon={Download} onClick={() => onOpen('exports')}>
        Export
      </Button>
      <Menu trigger={<IconButton icon={EllipsisVertical} label="More actions" kind="normal" />}>
        <MenuItem icon={Copy} onSelect={() => actions.clone(job)}>
          Clone
        </MenuItem>
        <MenuItem icon={GitCompareArrows} onSelect={() => onOpen('compare')}>
          Compare
        </MenuItem>
        <MenuSeparator />
        <MenuItem
          icon={Trash2}
          isDangerous
          isDisabled={!allowed.delete}
          onSelect={() => actions.run('delete', [job])}
        >
          Delete
        </MenuItem>
      </Menu>
    </>
  );
}
