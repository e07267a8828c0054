import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { readOnly } from '../../app/read-search.ts';
import { signedInRoute } from '../../app/root-route.tsx';

export interface SchedulesSearch {
  readonly new?: boolean;
  /** The job of the new schedule, as JSON: `{"kind": "crawl", "urls": […]}`. */
  readonly job?: string;
  readonly view?: 'calendar';
}

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/schedules',
  validateSearch: readOnly(
    ({ new: isNew, job, view }): SchedulesSearch => ({
      ...(isNew === true && { new: true }),
      ...(typeof job === 'string' && job !== '' && { job }),
      ...(typeof job === 'object' && job !== null && { job: JSON.stringify(job) }),
      ...(view === 'calendar' && { view }),
    }),
  ),
  component: lazyPage(() => import('./schedules-page.tsx'), 'SchedulesPage'),
});

const scheduleRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/schedules/$id',
  component: lazyPage(() => import('./schedule-page.tsx'), 'SchedulePage'),
});

export const schedulesRoutes = [listRoute, scheduleRoute] as const;
