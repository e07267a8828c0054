import type { Task } from './task.ts';

/**
 * What to do with tasks that were under way when a process died. Any of them may have killed it, or none: the store
 * counts the deaths (`Task.interruptions`), and the owners of hosts find out which task it was with few more deaths.
 *
 * After one death the task runs beside all others, but its start is recorded. After two it runs alone in its process
 * (`Quarantine`), which is recorded too. After two deaths while it was alone the task ends: nothing else was under way,
 * and a process that is killed for another reason hardly ever dies during the same lone task twice.
 */

/** From this many interruptions on a task runs alone. */
const ALONE_FROM = 2;
/** With this many interruptions while it was alone a task ends. */
export const MOST_LONE_INTERRUPTIONS = 2;

export const mustRunAlone = ({ interruptions }: Pick<Task, 'interruptions'>): boolean =>
  interruptions >= ALONE_FROM;

export const hasDiedTooOften = ({ loneInterruptions }: Pick<Task, 'loneInterruptions'>): boolean =>
  loneInterruptions >= MOST_LONE_INTERRUPTIONS;
