import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { signedInRoute } from '../../app/root-route.tsx';
import { textOf } from './row-search.ts';

export const PAGE_VIEWS = ['why', 'content', 'fields', 'links', 'versions', 'response', 'files'] as const;
export type PageView = (typeof PAGE_VIEWS)[number];

export interface UrlPageSearch {
  /** The URL whose page is shown. */
  readonly u: string;
  /** Its number in the job. */
  readonly p?: number | undefined;
  readonly view?: PageView | undefined;
  /** Where the list begins from which the page was opened, and its place after that. */
  readonly at?: string | undefined;
  readonly n?: number | undefined;
}

const urlRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/jobs/$id/url',
  // What else is in the address is the filter of the list, and what the views remember; both read it themselves.
  validateSearch: (raw: Record<string, unknown>): UrlPageSearch => {
    const page = Number(raw.p ?? Number.NaN);
    return {
      u: textOf(raw.u) ?? '',
      p: Number.isInteger(page) ? page : undefined,
      view: PAGE_VIEWS.find((each) => each === raw.view),
      at: typeof raw.at === 'string' ? raw.at : undefined,
      n: typeof raw.n === 'number' ? raw.n : undefined,
    };
  },
  component: lazyPage(() => import('./url-page.tsx'), 'UrlPage'),
});

export const jobPagesRoutes = [urlRoute] as const;
