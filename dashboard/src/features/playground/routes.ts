import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { readOnly } from '../../app/read-search.ts';
import { signedInRoute } from '../../app/root-route.tsx';

export const RESULT_TABS = [
  'page',
  'markdown',
  'html',
  'data',
  'links',
  'network',
  'timing',
  'why',
  'picker',
] as const;
export type ResultTab = (typeof RESULT_TABS)[number];

export interface PlaygroundSearch {
  /** The page, where nothing else is asked for: what other pages link to. */
  readonly url?: string;
  /** The request of the form, without secrets. */
  readonly request?: Readonly<Record<string, unknown>>;
  /** The job of the result that is shown. */
  readonly job?: string;
  readonly tab?: ResultTab;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

function readPlaygroundSearch(search: Record<string, unknown>): PlaygroundSearch {
  const { request } = search;
  const url = textOf(search.url);
  const job = textOf(search.job);
  const tab = RESULT_TABS.find((each) => each === search.tab);
  return {
    ...(url !== undefined && { url }),
    ...(typeof request === 'object' &&
      request !== null &&
      !Array.isArray(request) && { request: { ...request } }),
    ...(job !== undefined && { job }),
    ...(tab !== undefined && { tab }),
  };
}

export const playgroundRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/playground',
  validateSearch: readOnly(readPlaygroundSearch),
  component: lazyPage(() => import('./playground-page.tsx'), 'PlaygroundPage'),
});

export const playgroundRoutes = [playgroundRoute] as const;
