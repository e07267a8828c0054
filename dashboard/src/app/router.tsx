import { createRoute, createRouter } from '@tanstack/react-router';
import { accountsRoutes } from '../features/accounts/routes.ts';
import { auditRoutes } from '../features/audit/routes.ts';
import { domainsRoutes } from '../features/domains/routes.ts';
import { exportsRoutes } from '../features/exports/routes.ts';
import { homeRoutes } from '../features/home/routes.ts';
import { jobPagesRoutes } from '../features/job-pages/routes.ts';
import { jobsRoutes } from '../features/jobs/routes.ts';
import { keysRoutes } from '../features/keys/routes.ts';
import { monitorsRoutes } from '../features/monitors/routes.ts';
import { playgroundRoutes } from '../features/playground/routes.ts';
import { proxiesRoutes } from '../features/proxies/routes.ts';
import { queryRoutes } from '../features/query/routes.ts';
import { schedulesRoutes } from '../features/schedules/routes.ts';
import { searchRoutes } from '../features/search/routes.ts';
import { sessionsRoutes } from '../features/sessions/routes.ts';
import { systemRoutes } from '../features/system/routes.ts';
import { usageRoutes } from '../features/usage/routes.ts';
import { webhooksRoutes } from '../features/webhooks/routes.ts';
import { CrashPage } from './crash-page.tsx';
import { lazyPage } from './lazy-page.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { rootRoute, signedInRoute } from './root-route.tsx';

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  component: lazyPage(() => import('./sign-in-page.tsx'), 'SignInPage'),
});

/** An address that is no page, shown within the frame of the dashboard. */
const otherRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '$',
  component: NotFoundPage,
});

/** The owned components on one page, for people who build pages. */
const kitRoutes = __DEV_ROUTES__
  ? [
      createRoute({
        getParentRoute: () => rootRoute,
        path: '/kit',
        component: lazyPage(() => import('../kit/kit-page.tsx'), 'KitPage'),
      }),
    ]
  : [];

const tree = rootRoute.addChildren([
  signInRoute,
  ...kitRoutes,
  signedInRoute.addChildren([
    ...homeRoutes,
    ...playgroundRoutes,
    ...jobsRoutes,
    ...jobPagesRoutes,
    ...monitorsRoutes,
    ...schedulesRoutes,
    ...webhooksRoutes,
    ...searchRoutes,
    ...queryRoutes,
    ...exportsRoutes,
    ...domainsRoutes,
    ...proxiesRoutes,
    ...sessionsRoutes,
    ...usageRoutes,
    ...keysRoutes,
    ...accountsRoutes,
    ...auditRoutes,
    ...systemRoutes,
    otherRoute,
  ]),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultErrorComponent: CrashPage,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
  /** What a page of the dashboard asks of the next one. A link of another site cannot ask it, unlike a parameter. */
  interface HistoryState {
    /** The playground: fetch the page at once. */
    run?: boolean;
  }
}
