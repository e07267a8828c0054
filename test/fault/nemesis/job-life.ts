import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { FleetClient } from './fleet-client.ts';
import type { CallRecord, JobRecord, ResultRecord, UrlRecord } from './history.ts';
import type { JobPlan } from './job-plans.ts';
import { type ApiJob, resultOf, urlOf, viewOf } from './records.ts';

/** What a job left when it was read. */
export interface Harvest {
  readonly job: JobRecord;
  readonly urls: readonly UrlRecord[];
  readonly results: readonly ResultRecord[];
}

export interface JobLifeOptions {
  readonly plan: JobPlan;
  readonly client: FleetClient;
  readonly now: () => number;
  readonly onCall: (call: CallRecord) => void;
}

/** One job as its client sees it through. */
export interface JobLife {
  readonly name: string;
  readonly id: string | null;
  /** Whether the client is done with it: the job has ended as planned, or is deleted as planned. */
  readonly isSettled: boolean;
  /** Asks for it, twice under the same key. */
  accept(): Promise<void>;
  /**
   * Does what the plan says until the job has ended for good: cancels, resumes, retries. Looks at what there is each
   * time, so it can begin again after the store has forgotten something. Gives up when `isOver` says so.
   */
  settle(isOver: () => boolean): Promise<void>;
  /** Reads everything; what was read before an early deletion stays. */
  harvest(): Promise<Harvest>;
}

const LOOK_MS = 700;
const QUIET_MS = 2_500;

export function createJobLife({ plan, client, now, onCall }: JobLifeOptions): JobLife {
  const { name } = plan;
  let id: string | null = null;
  let isSettled = false;
  let hasCancelled = plan.cancelsAt === null;
  let kept: Harvest | null = null;
  let last: ApiJob | null = null;

  async function call(
    what: CallRecord['what'],
    ask: () => Promise<{ status: number; data: unknown }>,
    answerOf: (data: unknown) => string | null = () => null,
  ) {
    const at = now();
    const answered = await ask();
    const answer = answered.status < 300 ? answerOf(answered.data) : null;
    onCall({ at, endedAt: now(), job: name, what, status: answered.status, answer });
    return answered;
  }

  async function accept(): Promise<void> {
    const question = { body: plan.body, idempotencyKey: name };
    const idOf = (data: unknown) => (data as ApiJob).id;
    const { status, data } = await call('accept', () => client.ask('POST', plan.path, question), idOf);
    if (status !== 202) throw new Error(`${name} was answered ${status}: ${JSON.stringify(data)}`);
    id = idOf(data);
    await call('accept', () => client.ask('POST', plan.path, question), idOf);
  }

  /** Null when the job is not there. */
  async function look(): Promise<ApiJob | null> {
    const at = now();
    const { status, data } = await client.ask('GET', `/v1/jobs/${id}`);
    if (status === 404) {
      onCall({ at, endedAt: now(), job: name, what: 'gone', status, answer: id });
      return null;
    }
    last = data as ApiJob;
    return last;
  }

  const act = (what: 'cancel' | 'resume' | 'retry') =>
    call(what, () => client.ask('POST', `/v1/jobs/${id}/${what}`, what === 'resume' ? { body: {} } : {}));

  async function cancel(isOver: () => boolean): Promise<void> {
    await act('cancel');
    hasCancelled = true;
    for (;;) {
      const view = await look();
      if (view === null || isOver()) return;
      // The store may have gone back behind the cancelling.
      if (view.status !== 'cancelled' && view.finishedAt === null) await act('cancel');
      if (view.finishedAt !== null) break;
      await delay(LOOK_MS);
    }
    await call('quiet', async () => ({ status: 200, data: null }));
    await delay(QUIET_MS);
  }

  async function settle(isOver: () => boolean): Promise<void> {
    if (kept !== null || isOver()) return;
    isSettled = false;
    while (!isOver()) {
      const view = await look();
      if (view === null) await accept();
      else if (view.finishedAt === null) {
        if (!hasCancelled && view.progress.pages >= (plan.cancelsAt ?? 0)) await cancel(isOver);
      } else if (view.status === 'cancelled' || view.stopReason === 'cancelled') {
        await act('resume');
      } else if (plan.isRetried && view.progress.failed > 0) {
        await act('retry');
      } else break;
      await delay(LOOK_MS);
    }
    if (isOver()) return;
    onCall({ at: now(), endedAt: now(), job: name, what: 'end', status: 200, answer: null });
    if (plan.isDeletedEarly) {
      const harvested = await harvest();
      // The store may have gone back before the reading, or during it: what was read then belongs to two pasts.
      const after = await look();
      const isOfOnePast = after !== null && isDeepStrictEqual(viewOf(after), harvested.job.last);
      if (harvested.job.last?.finishedAt === null || !isOfOnePast) return settle(isOver);
      kept = harvested;
      await remove(isOver);
    }
    isSettled = true;
  }

  async function harvest(): Promise<Harvest> {
    if (kept !== null) return kept;
    const view = await look();
    const { sort, ownPath, wanted, isOpenEnded } = plan;
    const [urls, results] = [
      view === null ? [] : await client.lines(`/v1/jobs/${id}/urls`, (line) => urlOf(name, line)),
      view === null ? [] : await client.lines(`/v1/jobs/${id}/results`, (line) => resultOf(name, line)),
    ];
    return {
      job: {
        ...{ name, sort, id: id ?? '', ownPath, wanted, isOpenEnded },
        last: view === null ? null : viewOf(view),
      },
      urls: urls ?? [],
      results: results ?? [],
    };
  }

  async function remove(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const { status } = await call('delete', () => client.ask('DELETE', `/v1/jobs/${id}`));
      if (status === 200 || status === 404) return;
      // Still under way, for instance because the store went back behind its end.
      await act('cancel');
      await delay(LOOK_MS);
    }
  }

  return {
    name,
    get id() {
      return id;
    },
    get isSettled() {
      return isSettled;
    },
    accept,
    settle,
    harvest,
  };
}
