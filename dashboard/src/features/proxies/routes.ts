import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/proxies',
  component: lazyRouteComponent(() => import('./proxies-page.tsx'), 'ProxiesPage'),
});

export const proxiesRoutes = [listRoute] as const;
