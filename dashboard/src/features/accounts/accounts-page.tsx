import { PageHeader } from '../../kit/layout.tsx';

export const AccountsPage = () => <PageHeader title="Accounts" />;
