import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/domains',
  component: lazyRouteComponent(() => import('./domains-page.tsx'), 'DomainsPage'),
});

const domainRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/domains/$host',
  component: lazyRouteComponent(() => import('./domain-page.tsx'), 'DomainPage'),
});

export const domainsRoutes = [listRoute, domainRoute] as const;
