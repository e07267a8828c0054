import { PageHeader } from '../../kit/layout.tsx';

export const QueryPage = () => <PageHeader title="Query" />;
