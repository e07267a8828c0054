import type { JobPlan } from '../job-plans.ts';
import type { Stage } from '../stage.ts';
import { browserFaults } from './browser-faults.ts';
import type { Fault } from './fault.ts';
import { postgresFaults } from './postgres-faults.ts';
import { processFaults } from './process-faults.ts';
import { redisFaults } from './redis-faults.ts';
import { s3Faults } from './s3-faults.ts';
import { siteFaults } from './site-faults.ts';

export interface FaultsOptions {
  readonly stage: Stage;
  readonly random: () => number;
  /** Sees a job of a hostile web through to its end. */
  readonly live: (plan: JobPlan) => Promise<void>;
}

/** Everything that may happen. */
export async function allFaults({ stage, random, live }: FaultsOptions): Promise<readonly Fault[]> {
  return [
    ...processFaults(stage),
    ...(await postgresFaults(stage, random)),
    ...redisFaults(stage),
    ...s3Faults(stage),
    ...browserFaults(stage),
    ...siteFaults(stage, live),
  ];
}

const SERVERS = new Set(['postgres', 'redis', 's3', 'site']);

/** What is counted as one kind: the same done to two processes is one, done to a process and to PostgreSQL two. */
export function kindOf({ kind, target }: Pick<Fault, 'kind' | 'target'>): string {
  return `${SERVERS.has(target) ? target : 'process'}: ${kind}`;
}
