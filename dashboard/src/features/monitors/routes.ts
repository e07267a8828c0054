import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/monitors',
  component: lazyRouteComponent(() => import('./monitors-page.tsx'), 'MonitorsPage'),
});

export const monitorsRoutes = [listRoute] as const;
