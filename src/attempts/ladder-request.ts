import type { ProxyOptions } from '../model/job.ts';
import type { Consent, HostPolicy } from '../model/policy.ts';
import type { Task } from '../model/task.ts';
import { neededAbilities } from '../plan/ladder/needed-abilities.ts';
import type { LadderPolicy, LadderRequest } from '../plan/ladder/possible-methods.ts';
import type { SessionUse } from '../sessions/session-use.ts';
import type { RunningJob } from './running-job.ts';

/** The tier under which the caller's own proxy stands in the trace. */
export const OWN_PROXY = 'own';

/** What the ladder has to know of a task. */
export function ladderRequest(task: Task, { job }: RunningJob, session: SessionUse | null): LadderRequest {
  const { page } = job.options;
  // A sitemap is a file: nothing on it wants to be rendered or pressed.
  const isPage = task.kind === 'page';
  const wish = proxyWishOf(page.proxy, session);
  return {
    url: task.atUrl,
    engine: isPage ? page.engine : 'http',
    needs: isPage
      ? neededAbilities({ ...page.render, formats: page.formats, headers: page.headers, method: page.method })
      : [],
    identity: page.identity ?? session?.session.wish.identity ?? null,
    proxy:
      wish === null
        ? null
        : wish.url === null
          ? { tier: wish.tier, isOwn: false }
          : { tier: OWN_PROXY, isOwn: true },
    maxAttempts: page.maxAttempts,
  };
}

/** The request's own wish goes before that of its session. */
export function proxyWishOf(asked: ProxyOptions | null, session: SessionUse | null): ProxyOptions | null {
  const wish = session?.session.wish.proxy ?? null;
  return asked ?? (wish === null ? null : { ...wish, url: null });
}

/**
 * The policy with what the operator's own order adds: whoever runs the command and names an engine or an identity
 * consents to that by saying so, and to nothing else.
 */
export function ladderPolicy(policy: HostPolicy, { job }: RunningJob): LadderPolicy {
  const { isOperated, page } = job.options;
  if (!isOperated) return policy;
  const ordered: Consent[] = [];
  const isDisguised = page.engine === 'stealth' || page.engine === 'flaresolverr';
  if (isDisguised) ordered.push('stealth');
  if (page.identity === 'browser') ordered.push('identity');
  if (ordered.length === 0) return policy;
  return {
    ...policy,
    engines: isDisguised ? [...new Set([...policy.engines, page.engine as 'stealth'])] : policy.engines,
    consent: [...new Set([...policy.consent, ...ordered])],
  };
}
