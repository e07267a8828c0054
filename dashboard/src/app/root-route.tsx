import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { CrashPage } from './crash-page.tsx';
import { SignedInLayout } from './signed-in-layout.tsx';

export const rootRoute = createRootRoute({ component: Outlet });

/** The parent of every page that needs a session: menu, top bar and live events around it. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  component: SignedInLayout,
  errorComponent: CrashPage,
});
