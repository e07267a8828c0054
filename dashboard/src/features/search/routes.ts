import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { signedInRoute } from '../../app/root-route.tsx';

export interface PageSearch {
  readonly q?: string;
  readonly host?: string;
}

const searchRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/search',
  validateSearch: ({ q, host }: Record<string, unknown>): PageSearch => ({
    ...(q !== undefined && q !== '' && { q: String(q) }),
    ...(typeof host === 'string' && host !== '' && { host }),
  }),
  component: lazyPage(() => import('./search-page.tsx'), 'SearchPage'),
});

export const searchRoutes = [searchRoute] as const;
