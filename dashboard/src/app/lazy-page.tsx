import { lazyRouteComponent } from '@tanstack/react-router';
import { useEffect } from 'react';

const ASK_MS = 1_000;

async function isReachable(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}

/** Stands for a page whose scripts and styles could not be loaded: a new load of the whole gets all of them. */
function LoadAnew() {
  useEffect(() => location.reload(), []);
  return null;
}

/**
 * The component of a page, loaded when it is first opened. While the server is away, the page that is open stays, below the
 * banner that says so, and the other one follows when the server answers again.
 */
export const lazyPage = ((load: () => Promise<Record<string, unknown>>, name: string) =>
  lazyRouteComponent(
    () =>
      load().catch(async (cause: unknown) => {
        if (await isReachable()) throw cause;
        while (!(await isReachable())) await new Promise((resolve) => setTimeout(resolve, ASK_MS));
        return { [name]: LoadAnew };
      }),
    name,
  )) as typeof lazyRouteComponent;
