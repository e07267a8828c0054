import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/proxies',
  component: lazyPage(() => import('./proxies-page.tsx'), 'ProxiesPage'),
});

export const proxiesRoutes = [listRoute] as const;
