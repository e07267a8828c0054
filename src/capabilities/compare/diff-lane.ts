import type { DiffTasks } from './diff-messages.ts';
import { createThreadLane, type ThreadLane, type ThreadLaneOptions } from './thread-lane.ts';

/** The thread that compares pages. */
export type DiffLane = ThreadLane<DiffTasks>;

export const createDiffLane = (options?: ThreadLaneOptions): DiffLane =>
  createThreadLane(
    'diff',
    new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url),
    options,
  );
