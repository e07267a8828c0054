import { Compass } from 'lucide-react';
import { LinkButton } from '../kit/button.tsx';
import { EmptyState } from '../kit/states.tsx';

export const NotFoundPage = () => (
  <EmptyState
    isPage
    icon={Compass}
    title="There is no such page"
    actions={<LinkButton to="/">Go to the start</LinkButton>}
  >
    The address may be mistyped, or what it led to was deleted.
  </EmptyState>
);
