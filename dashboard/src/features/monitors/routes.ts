import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { readOnly } from '../../app/read-search.ts';
import { signedInRoute } from '../../app/root-route.tsx';

export interface MonitorsSearch {
  /** Opens the form for a new one, for this URL where one is given. */
  readonly new?: boolean;
  readonly url?: string;
}

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/monitors',
  validateSearch: readOnly(
    ({ new: isNew, url }): MonitorsSearch => ({
      ...(isNew === true && { new: true }),
      ...(typeof url === 'string' && url !== '' && { url }),
    }),
  ),
  component: lazyPage(() => import('./monitors-page.tsx'), 'MonitorsPage'),
});

export const CHANGE_KINDS = ['ADDED', 'REMOVED', 'MODIFIED', 'MOVED', 'REVERTED'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

const monitorRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/monitors/$id',
  validateSearch: readOnly(({ kind }): { readonly kind?: ChangeKind } => {
    const known = CHANGE_KINDS.find((name) => name === kind);
    return known === undefined ? {} : { kind: known };
  }),
  component: lazyPage(() => import('./monitor-page.tsx'), 'MonitorPage'),
});

export const monitorsRoutes = [listRoute, monitorRoute] as const;
