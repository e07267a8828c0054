import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/exports',
  component: lazyRouteComponent(() => import('./exports-page.tsx'), 'ExportsPage'),
});

export const exportsRoutes = [listRoute] as const;
