import type { Attempt } from '../../../core/model/attempt.ts';
import { runsScripts } from '../../../core/model/engine-traits.ts';
import type { HostMemory } from '../../../core/model/host-memory.ts';
import type { Task } from '../../../core/model/task.ts';
import { hasGained, learn, NO_MEMORY } from '../../plan/ladder/host-memory.ts';
import type { HostAccess } from '../access/host-access.ts';
import type { Finished } from './finish-task.ts';
import type { PlannedAttempt } from './plan-attempt.ts';

/** Updates the host memory by an attempt whose request was answered. */
export function learnFrom(
  { task, step, running }: PlannedAttempt,
  { attempt }: Finished,
  access: Pick<HostAccess, 'memoryFor' | 'remember'>,
  now: number,
): void {
  const plain = task.trace.findLast(({ engine, yield: found }) => engine === 'http' && found !== undefined);
  const canCompare = plain?.yield !== undefined && attempt.yield !== undefined && runsScripts(attempt.engine);
  const gain = canCompare ? hasGained(plain.yield, attempt.yield) : undefined;
  const memory = withUnreadable(access.memoryFor(running) ?? NO_MEMORY, task, attempt, now);
  const lesson = { ...attempt, identity: step.identity, url: task.atUrl, hasGained: gain };
  access.remember(running, learn(memory, lesson, now));
}

/** A browser has read what plain HTTP could not: pages like this one are rendered at once. */
function withUnreadable(memory: HostMemory, task: Task, attempt: Attempt, now: number): HostMemory {
  const last = task.trace.at(-1);
  const wasRefused = last?.engine === 'http' && last.errorCode === 'PROTOCOL_ERROR';
  if (!wasRefused || attempt.outcome !== 'ok' || !runsScripts(attempt.engine)) return memory;
  const { engine, proxyTier, identity = 'bot' } = last;
  const end = { outcome: 'needs-javascript', statusCode: attempt.statusCode } as const;
  return learn(memory, { engine, proxyTier, identity, url: task.atUrl, ...end }, now);
}
