import { PageHeader } from '../../kit/layout.tsx';

export const ExportsPage = () => <PageHeader title="Exports" />;
