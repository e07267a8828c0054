import { PageHeader } from '../../kit/layout.tsx';

export const SessionsPage = () => <PageHeader title="Sessions" />;
