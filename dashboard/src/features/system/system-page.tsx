import { getRouteApi } from '@tanstack/react-router';
import { PageHeader } from '../../kit/layout.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { Doctor } from './doctor.tsx';
import { LogTail } from './log-tail.tsx';
import { Overview } from './overview.tsx';
import { Settings } from './settings.tsx';

const route = getRouteApi('/signed-in/system');

export function SystemPage() {
  const { tab = 'overview' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHeader
        title="System"
        about="Processes, queues, storage, checks, log and settings of this installation."
      />
      <Tabs
        label="System"
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
        tabs={[
          { value: 'overview', label: 'Overview', content: <Overview /> },
          { value: 'doctor', label: 'Doctor', content: <Doctor /> },
          { value: 'log', label: 'Log', content: <LogTail /> },
          { value: 'settings', label: 'Settings', content: <Settings /> },
        ]}
      />
    </>
  );
}
