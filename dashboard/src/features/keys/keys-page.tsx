import { PageHeader } from '../../kit/layout.tsx';

export const KeysPage = () => <PageHeader title="Keys" />;
