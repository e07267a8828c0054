import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/keys',
  component: lazyPage(() => import('./keys-page.tsx'), 'KeysPage'),
});

export const keysRoutes = [listRoute] as const;
