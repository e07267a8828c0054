import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';

const listRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
});

const webhookRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/webhooks/$id',
  component: lazyRouteComponent(() => import('./webhook-page.tsx'), 'WebhookPage'),
});

export const webhooksRoutes = [listRoute, webhookRoute] as const;
