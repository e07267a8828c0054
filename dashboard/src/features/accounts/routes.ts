import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/accounts',
  component: lazyPage(() => import('./accounts-page.tsx'), 'AccountsPage'),
});

const accountRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/accounts/$id',
  component: lazyPage(() => import('./account-page.tsx'), 'AccountPage'),
});

export const accountsRoutes = [listRoute, accountRoute] as const;
