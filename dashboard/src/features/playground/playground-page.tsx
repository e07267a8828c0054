import { PageHeader } from '../../kit/layout.tsx';

export const PlaygroundPage = () => <PageHeader title="Playground" />;
