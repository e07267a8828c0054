import { PageHeader } from '../../kit/layout.tsx';

export const SystemPage = () => <PageHeader title="System" />;
