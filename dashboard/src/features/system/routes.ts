import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/system',
  component: lazyRouteComponent(() => import('./system-page.tsx'), 'SystemPage'),
});

export const systemRoutes = [listRoute] as const;
