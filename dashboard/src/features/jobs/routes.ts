import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';
import { readJobSearch, readJobsSearch, readNewJobSearch } from './address.ts';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/jobs',
  validateSearch: readJobsSearch,
  component: lazyRouteComponent(() => import('./jobs-page.tsx'), 'JobsPage'),
});

const newRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/jobs/new',
  validateSearch: readNewJobSearch,
  component: lazyRouteComponent(() => import('./new-job-page.tsx'), 'NewJobPage'),
});

const jobRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/jobs/$id',
  validateSearch: readJobSearch,
  component: lazyRouteComponent(() => import('./job-page.tsx'), 'JobPage'),
});

export const jobsRoutes = [listRoute, newRoute, jobRoute] as const;
