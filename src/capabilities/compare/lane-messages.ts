import { parentPort } from 'node:worker_threads';
import { listen } from '../../core/errors/guarded.ts';
import type { ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** What a thread can be asked, by name, and what it answers. */
export type LaneTasks<Tasks> = {
  readonly [Name in keyof Tasks]: { readonly given: unknown; readonly found: unknown };
};

export interface LaneCall {
  readonly id: number;
  readonly task: string;
  readonly given: unknown;
}

/** The first message of a thread: it has loaded what it needs and takes calls. */
export interface LaneReady {
  readonly isReady: true;
}

export type LaneAnswer =
  | { readonly id: number; readonly found: unknown }
  | { readonly id: number; readonly code: ErrorCode | null; readonly message: string };

export type LaneWorkers<Tasks extends LaneTasks<Tasks>> = {
  readonly [Name in keyof Tasks]: (given: Tasks[Name]['given']) => Tasks[Name]['found'];
};

/** Answers the calls of a lane, in its thread. */
export function answerCalls<Tasks extends LaneTasks<Tasks>>(workers: LaneWorkers<Tasks>): void {
  if (parentPort === null) throw new Error('The thread has no parent.');
  const port = parentPort;
  const answerTo = ({ id, task, given }: LaneCall): LaneAnswer => {
    try {
      return { id, found: (workers[task as keyof Tasks] as (given: unknown) => unknown)(given) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { id, code: isScrapifieError(error) ? error.code : null, message };
    }
  };
  listen(port, 'message', (call: LaneCall) => port.postMessage(answerTo(call)));
  port.postMessage({ isReady: true } satisfies LaneReady);
}
