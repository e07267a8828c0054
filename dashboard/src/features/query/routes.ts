import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/query',
  component: lazyRouteComponent(() => import('./query-page.tsx'), 'QueryPage'),
});

export const queryRoutes = [listRoute] as const;
