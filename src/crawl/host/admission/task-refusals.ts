import type { HostKey } from '../../../core/model/ids.ts';
import type { Metrics } from '../../../core/observe/metrics.ts';
import type { Policies } from '../../policy/policies.ts';
import type { HostAccess } from '../access/host-access.ts';
import { pausedEnd } from '../access/own-answers.ts';
import type { ClaimedTask } from '../process/running-job.ts';
import { noRouteEnd, proxyRouteEnd, robotsEnd, siteEnd, type TaskRefusal } from './robots-end.ts';
import type { RobotsLoader } from './robots-loader.ts';

export interface TaskRefusalParts {
  readonly hostKey: HostKey;
  readonly access: HostAccess;
  readonly robotsLoader: RobotsLoader;
  readonly policies: () => Policies;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** Says why a task must not be fetched; `loading` while its robots.txt is on the way, or the host is held. */
export type TaskRefusals = (claimed: ClaimedTask) => TaskRefusal | 'loading' | null;

export function createTaskRefusals(parts: TaskRefusalParts): TaskRefusals {
  const { hostKey, access, robotsLoader, metrics, now } = parts;

  return ({ task, running }) => {
    const denied = parts.policies().denied(hostKey);
    if (denied !== null) return { end: { state: 'denied', rule: denied.rule } };
    const paused = pausedEnd(access.ownPauseUntil(running), now());
    if (paused !== null) return { end: paused };
    if (!access.isObeyed(running) && task.kind !== 'site') return null;
    const url = new URL(task.atUrl);
    const known = access.knownRobots(running, url);
    if (known === null) {
      const obstacle = robotsLoader.obstacleFor(running);
      if (obstacle !== null) return noRouteEnd(task, running.job, obstacle.error, obstacle.until, now());
      const failure = running.proxyRouteFailure;
      running.proxyRouteFailure = null;
      if (failure !== null) return { end: proxyRouteEnd(task, running.job, failure, now()) };
      robotsLoader.load(running, url, task.interruptions > 0);
      return 'loading';
    }
    if (task.kind === 'site') return siteEnd(task, known, running);
    const end = robotsEnd(task, running.job, known, url, now());
    if (end?.state === 'denied') metrics.robotsDenied();
    return end === null ? null : { end };
  };
}
