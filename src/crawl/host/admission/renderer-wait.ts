import type { EngineName } from '../../../core/model/attempt.ts';
import type { Task } from '../../../core/model/task.ts';
import type { Metrics } from '../../../core/observe/metrics.ts';
import type { TaskEnd } from '../../../core/ports/store.ts';
import { pageOptionsFor } from '../../frontier/routes.ts';
import type { HostAccess } from '../access/host-access.ts';
import { needsOf, planAttempt } from '../attempt/plan-attempt.ts';
import type { FetchResources } from '../process/fetch-resources.ts';
import type { RunningJob } from '../process/running-job.ts';
import { ownFaultEnd } from '../process/task-end.ts';

export interface RendererWaitParts {
  readonly access: HostAccess;
  readonly resources: FetchResources;
  readonly metrics: Pick<Metrics, 'renderPutOff'>;
  readonly now: () => number;
  readonly random: () => number;
}

const RENDERERS: readonly EngineName[] = ['browser', 'stealth'];
const SHORTEST_AWAY_PAUSE_MS = 10_000;
const LONGEST_AWAY_PAUSE_MS = 60_000;

/** The longer browsers are away, the less often each of the URLs that wait for them is looked at. */
const awayPauseMs = (awayForMs: number): number =>
  Math.min(LONGEST_AWAY_PAUSE_MS, Math.max(SHORTEST_AWAY_PAUSE_MS, awayForMs / 4));

/**
 * The end of a task that needs a browser while none shows pages: it waits, and neither the gate nor a slot is taken, so that
 * plain pages of the host go on. Returns null when an attempt may be made.
 */
export function rendererWait(task: Task, running: RunningJob, parts: RendererWaitParts): TaskEnd | null {
  const { access, resources, metrics, now, random } = parts;
  if (RENDERERS.every((name) => resources.awayOf(name) === null)) return null;
  void resources.discover();
  const page = pageOptionsFor(running.job.options, task.url);
  // Sessions have wishes of their own; their tasks are planned when the session is there.
  if (page.session !== null) return null;
  if (page.engine === 'auto' && task.trace.length === 0 && needsOf(page).length === 0) return null;
  const { step, refusal } = planAttempt(task, running, null, access, resources, now(), random);
  const asked = refusal?.code === 'NO_WORKER' ? RENDERERS : [step.engine];
  if (refusal !== null && refusal.code !== 'NO_WORKER') return null;
  const away = asked.flatMap((name) => resources.awayOf(name) ?? [])[0];
  if (away === undefined) return null;
  metrics.renderPutOff(away.code);
  return ownFaultEnd(away.code, Math.round(now() + awayPauseMs(away.forMs) * (1 + random() / 4)));
}
