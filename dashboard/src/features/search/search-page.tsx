import { PageHeader } from '../../kit/layout.tsx';

export const SearchPage = () => <PageHeader title="Search" />;
