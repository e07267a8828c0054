import { PageHeader } from '../../kit/layout.tsx';

export const HomePage = () => <PageHeader title="Home" />;
