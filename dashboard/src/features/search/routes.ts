import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/search',
  component: lazyRouteComponent(() => import('./search-page.tsx'), 'SearchPage'),
});

export const searchRoutes = [listRoute] as const;
