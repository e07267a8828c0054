import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/exports',
  component: lazyPage(() => import('./exports-page.tsx'), 'ExportsPage'),
});

export const exportsRoutes = [listRoute] as const;
