import { lazyRouteComponent } from '@tanstack/react-router';
import { loadPatiently } from '../kit/lazy-part.tsx';

/**
 * The component of a page, loaded when it is first opened. While the server is away, the page that is open stays, below the
 * banner that says so, and the other one follows when the server answers again.
 */
export const lazyPage = ((load: () => Promise<Record<string, unknown>>, name: string) =>
  lazyRouteComponent(() => loadPatiently(load, name), name)) as typeof lazyRouteComponent;
