import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/',
  component: lazyPage(() => import('./home-page.tsx'), 'HomePage'),
});

export const homeRoutes = [listRoute] as const;
