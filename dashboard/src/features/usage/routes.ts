import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { readOnly } from '../../app/read-search.ts';
import { signedInRoute } from '../../app/root-route.tsx';
import { DAYS, GROUPS, type Group } from './queries.ts';

export interface UsageSearch {
  readonly by?: Group;
  readonly days?: number;
}

const usageRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/usage',
  validateSearch: readOnly((search): UsageSearch => {
    const by = GROUPS.find((group) => group === search.by);
    const days = DAYS.find((count) => count === Number(search.days));
    return { ...(by !== undefined && { by }), ...(days !== undefined && { days }) };
  }),
  component: lazyPage(() => import('./usage-page.tsx'), 'UsagePage'),
});

export const usageRoutes = [usageRoute] as const;
