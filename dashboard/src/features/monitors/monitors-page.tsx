import { PageHeader } from '../../kit/layout.tsx';

export const MonitorsPage = () => <PageHeader title="Monitors" />;
