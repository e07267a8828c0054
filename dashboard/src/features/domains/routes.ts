import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/domains',
  component: lazyPage(() => import('./domains-page.tsx'), 'DomainsPage'),
});

const domainRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/domains/$host',
  component: lazyPage(() => import('./domain-page.tsx'), 'DomainPage'),
});

export const domainsRoutes = [listRoute, domainRoute] as const;
