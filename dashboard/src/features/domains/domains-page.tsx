import { PageHeader } from '../../kit/layout.tsx';

export const DomainsPage = () => <PageHeader title="Domains" />;
