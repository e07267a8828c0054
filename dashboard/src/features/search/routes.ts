import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { readOnly } from '../../app/read-search.ts';
import { signedInRoute } from '../../app/root-route.tsx';

export interface PageSearch {
  readonly q?: string;
  readonly host?: string;
}

const searchRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/search',
  validateSearch: readOnly(
    ({ q, host }): PageSearch => ({
      ...(['string', 'number', 'boolean'].includes(typeof q) && q !== '' && { q: String(q) }),
      ...(typeof host === 'string' && host !== '' && { host }),
    }),
  ),
  component: lazyPage(() => import('./search-page.tsx'), 'SearchPage'),
});

export const searchRoutes = [searchRoute] as const;
