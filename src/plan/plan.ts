import type { EngineName } from '../model/attempt.ts';
import type { PageOptions } from '../model/job.ts';
import type { HostPolicy } from '../model/policy.ts';

/** How the next attempt is made, and why. */
export type Plan =
  | { readonly kind: 'attempt'; readonly engine: EngineName; readonly reason: string }
  /** Nothing that is installed and allowed can do it. */
  | { readonly kind: 'none'; readonly rule: string };

/** The cheapest engine that the request, the policy and this installation allow, cheapest first. */
export function planAttempt(page: PageOptions, policy: HostPolicy, installed: readonly EngineName[]): Plan {
  const wanted = page.engine === 'auto' ? installed : [page.engine];
  const engine = wanted.find((name) => installed.includes(name) && policy.engines.includes(name));
  if (engine === undefined) return { kind: 'none', rule: `plan.no-engine:${page.engine}` };
  return { kind: 'attempt', engine, reason: page.engine === 'auto' ? 'plan.cheapest' : 'plan.requested' };
}
