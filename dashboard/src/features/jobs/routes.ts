import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { readOnly } from '../../app/read-search.ts';
import { signedInRoute } from '../../app/root-route.tsx';
import { readJobSearch, readJobsSearch, readNewJobSearch } from './address.ts';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/jobs',
  validateSearch: readOnly(readJobsSearch),
  component: lazyPage(() => import('./jobs-page.tsx'), 'JobsPage'),
});

const newRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/jobs/new',
  validateSearch: readOnly(readNewJobSearch),
  component: lazyPage(() => import('./new-job-page.tsx'), 'NewJobPage'),
});

const jobRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/jobs/$id',
  validateSearch: readJobSearch,
  component: lazyPage(() => import('./job-page.tsx'), 'JobPage'),
});

export const jobsRoutes = [listRoute, newRoute, jobRoute] as const;
