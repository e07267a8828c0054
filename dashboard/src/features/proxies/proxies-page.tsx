import { PageHeader } from '../../kit/layout.tsx';

export const ProxiesPage = () => <PageHeader title="Proxies" />;
