import type { HostKey } from '../model/ids.ts';
import type { Reason } from '../model/reasons.ts';
import type { TaskState } from '../model/task.ts';

/** Open tasks of one job on one host that are in the same state, and of waiting ones those with the same rule. */
export interface TaskWait {
  readonly hostKey: HostKey;
  readonly state: Extract<TaskState, 'ready' | 'waiting' | 'claimed'>;
  readonly tasks: number;
  /** Why they wait; null for tasks that are not waiting. */
  readonly rule: string | null;
  /** When the first of them may be claimed; null for tasks that are not waiting. */
  readonly readyAt: number | null;
  /** Until when the host is not offered to an owner; null while it has one, and while it is not held. */
  readonly heldUntil: number | null;
  /** Why the host is held, where its last owner has said so; null when it is not held. */
  readonly hold: HostHold | null;
}

/** Why no request may be sent to a host for a while. */
export interface HostHold {
  readonly rule: Reason;
  /** When requests may be sent again, as far as is known now. The host may be offered earlier, to look again. */
  readonly until: number;
}
