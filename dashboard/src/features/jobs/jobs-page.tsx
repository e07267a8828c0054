import { PageHeader } from '../../kit/layout.tsx';

export const JobsPage = () => <PageHeader title="Jobs" />;
