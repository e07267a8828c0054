import { siblingModule } from '../../lib/sibling-module.ts';
import type { DiffTasks } from './diff-messages.ts';
import { createThreadLane, type ThreadLane, type ThreadLaneOptions } from './thread-lane.ts';

/** The thread that compares pages. */
export type DiffLane = ThreadLane<DiffTasks>;

export const createDiffLane = (options?: ThreadLaneOptions): DiffLane =>
  createThreadLane('diff', siblingModule('./thread.ts', import.meta.url), options);
