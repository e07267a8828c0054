import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { readOnly } from '../../app/read-search.ts';
import { signedInRoute } from '../../app/root-route.tsx';

const TABS = ['sessions', 'credentials'] as const;
export type SessionsTab = (typeof TABS)[number];

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/sessions',
  validateSearch: readOnly(({ tab }): { readonly tab: SessionsTab } => ({
    tab: TABS.find((name) => name === tab) ?? 'sessions',
  })),
  component: lazyPage(() => import('./sessions-page.tsx'), 'SessionsPage'),
});

export const sessionsRoutes = [listRoute] as const;
