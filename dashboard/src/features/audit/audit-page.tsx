import { PageHeader } from '../../kit/layout.tsx';

export const AuditPage = () => <PageHeader title="Audit log" />;
