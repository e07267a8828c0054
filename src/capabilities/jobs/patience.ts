import { isRendering } from '../../core/model/engine-traits.ts';
import type { PageOptions } from '../../core/model/job.ts';

/** Reading what there is of a page whose time is up takes a moment more. */
const LAST_LOOK_MS = 5_000;

/** How long to wait for a single page. */
export function patienceFor({ engine, render, timeoutMs }: PageOptions): number {
  const mayBeShown = render !== null || isRendering(engine);
  return mayBeShown ? timeoutMs + LAST_LOOK_MS : timeoutMs;
}
