import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { CrashPage } from './crash-page.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { SignedInLayout } from './signed-in-layout.tsx';

export const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage });

/** The parent of every page that needs a session: menu, top bar and live events around it. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  component: SignedInLayout,
  errorComponent: CrashPage,
  notFoundComponent: NotFoundPage,
});
