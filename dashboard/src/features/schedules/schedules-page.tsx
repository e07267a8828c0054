import { PageHeader } from '../../kit/layout.tsx';

export const SchedulesPage = () => <PageHeader title="Schedules" />;
