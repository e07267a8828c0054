import { createHash } from 'node:crypto';
import type { JobId, RunId, ScheduleId } from '../../core/model/ids.ts';
import { formatJobId } from '../jobs/job-id.ts';

/** The ids of the run of a tick and of its job: the same wherever and whenever they are asked for. */
export function tickIds(schedule: ScheduleId, tickAt: number): { readonly id: RunId; readonly jobId: JobId } {
  return {
    id: idFrom('run', schedule, tickAt) as string as RunId,
    jobId: idFrom('job', schedule, tickAt),
  };
}

function idFrom(what: string, schedule: ScheduleId, tickAt: number): JobId {
  const digest = createHash('sha256').update(`${what}:${schedule}:${tickAt}`).digest();
  const chance = (at: number) => digest.readUInt32BE(at) / 0x1_0000_0000;
  return formatJobId({ ms: tickAt, count: digest.readUInt16BE(8) & 0xfff }, chance(0), chance(4));
}
