import { PageHeader } from '../../kit/layout.tsx';

export const WebhooksPage = () => <PageHeader title="Webhooks" />;
