import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { readOnly } from '../../app/read-search.ts';
import { signedInRoute } from '../../app/root-route.tsx';

export interface AuditSearch {
  readonly action?: string;
  readonly actor?: string;
  readonly target?: string;
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const auditRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/audit',
  validateSearch: readOnly(
    ({ action, actor, target }): AuditSearch => ({
      ...(text(action) && { action: String(action) }),
      ...(text(actor) && { actor: String(actor) }),
      ...(text(target) && { target: String(target) }),
    }),
  ),
  component: lazyPage(() => import('./audit-page.tsx'), 'AuditPage'),
});

export const auditRoutes = [auditRoute] as const;
