import { dripPlan, type JobPlan, poisonPlan, resetPlan } from '../job-plans.ts';
import type { Stage } from '../stage.ts';
import type { Fault } from './fault.ts';

const LOCK = { target: 'site', isPossible: () => true, leastMs: 0, mostMs: 0 } as const;
const HOSTILE_PAGES = 10;
const BROKEN_URLS = 4;

/** Webs that hurt: each fault is a job on one of them, and is over when the job has ended. */
export function siteFaults({ site }: Stage, live: (plan: JobPlan) => Promise<void>): Fault[] {
  let jobs = 0;
  const job = (kind: string, plan: (name: string, at: number) => JobPlan): Fault => ({
    ...{ ...LOCK, kind, locks: [`site ${kind}`] },
    async run() {
      jobs += 1;
      await live(plan(`hostile-${jobs}`, jobs));
    },
  });
  return [
    job('poisonous pages', (name, at) => poisonPlan(name, at, site.port, HOSTILE_PAGES)),
    job('host that resets', (name, at) => resetPlan(name, at, site.port, BROKEN_URLS)),
    job('host that drips', (name, at) => dripPlan(name, at, site.port, BROKEN_URLS)),
  ];
}
