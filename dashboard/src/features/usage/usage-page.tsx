import { PageHeader } from '../../kit/layout.tsx';

export const UsagePage = () => <PageHeader title="Usage" />;
