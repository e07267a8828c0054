import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/accounts',
  component: lazyRouteComponent(() => import('./accounts-page.tsx'), 'AccountsPage'),
});

const accountRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/accounts/$id',
  component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
});

export const accountsRoutes = [listRoute, accountRoute] as const;
