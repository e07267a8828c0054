import type { Evidence, Violation } from './evidence.ts';
import type { DeliveryRecord, History, TenantRecord } from './history.ts';

const END = /^job\.(?:completed|partially_completed|failed|cancelled)$/;
/** Between the moment at which an attempt ended and the moment at which that was stored. */
const SLACK_MS = 1_000;
/** Sums of credits are shown as decimal fractions. */
const EPSILON = 1e-6;

/**
 * What accounts were promised: credits that add up, events that are delivered once and in order, a run for every tick, and
 * nothing of other accounts. A store that has gone back has forgotten events and runs, so those are not judged then.
 */
export function checkPlatform(history: History, evidence: Evidence): Violation[] {
  const hasForgotten = history.actions.some(({ forgets }) => forgets === true);
  return history.tenants.flatMap((tenant) => [
    ...checkCredits(tenant),
    ...checkForeign(tenant),
    ...(hasForgotten
      ? []
      : [
          ...checkEnds(tenant),
          ...checkDelivered(tenant, history, evidence),
          ...checkOrder(tenant, history),
          ...checkTicks(tenant),
        ]),
  ]);
}

function checkCredits({ id, credits, granted, used }: TenantRecord): Violation[] {
  if (credits === null) return [{ check: 'credits', what: `${id} is not limited any more` }];
  const { allowanceCredits, balanceCredits, heldCredits } = credits;
  const left = allowanceCredits + balanceCredits + heldCredits;
  const wrong: Violation[] = [];
  if (Math.abs(granted - used - left) > EPSILON) {
    const what = `${id} was granted ${granted} and used ${used}, and has ${left} left`;
    wrong.push({ check: 'credits', what });
  }
  if (heldCredits !== 0) {
    wrong.push({ check: 'credits', what: `${id} has ${heldCredits} held and no job that goes on` });
  }
  return wrong;
}

/** A foreign id is answered as a missing one. */
function checkForeign({ id, foreign }: TenantRecord): Violation[] {
  return foreign
    .filter(({ status }) => status !== 404)
    .map(({ path, status }) => ({ check: 'isolation', what: `${id} was answered ${status} for ${path}` }));
}

const endsOf = ({ deliveries }: TenantRecord) => Map.groupBy(deliveries, ({ jobId }) => jobId ?? '');

/** Every job that has ended is told once, as it ended. */
function checkEnds(tenant: TenantRecord): Violation[] {
  const byJob = endsOf(tenant);
  return tenant.jobs.flatMap(({ id, status, finishedAt }) => {
    if (finishedAt === null) return [{ check: 'open', what: `job ${id} of ${tenant.id} has not ended` }];
    const ends = (byJob.get(id) ?? []).filter(({ event }) => END.test(event));
    const [only] = ends;
    if (ends.length === 1 && only?.event === `job.${status}`) return [];
    const told = ends.map(({ event }) => event).join(', ') || 'nothing';
    return [
      { check: 'delivery', what: `job ${id} of ${tenant.id} ended as ${status}, and ${told} was told` },
    ];
  });
}

/** A delivery is `delivered` when the receiver took it, and is not sent again after that was stored. */
function checkDelivered(tenant: TenantRecord, { received }: History, { at, near }: Evidence): Violation[] {
  const byEvent = Map.groupBy(
    received.filter(({ account }) => account === tenant.id),
    ({ eventId }) => eventId,
  );
  const twice = duplicatesOf(tenant.deliveries).map((eventId) => ({
    check: 'delivery',
    what: `event ${eventId} of ${tenant.id} has two deliveries`,
  }));
  const wrong = tenant.deliveries.flatMap(({ eventId, event, state, endedAt }) => {
    const requests = byEvent.get(eventId) ?? [];
    const told = `${event} ${eventId} of ${tenant.id}`;
    if (state !== 'delivered' || endedAt === null) {
      return [{ check: 'delivery', what: `${told} is ${state}` }];
    }
    const isTaken = requests.some(({ status }) => status === 200);
    const late = requests.filter((request) => request.at > endedAt + SLACK_MS);
    return [
      ...(isTaken
        ? []
        : [{ check: 'delivery', what: `${told} is delivered, and the receiver never took it` }]),
      ...late.map((request) => ({
        check: 'delivery',
        what: `${told} was stored as delivered at ${at(endedAt)} and sent again at ${at(request.at)}; ${near(request.at)}`,
      })),
    ];
  });
  return [...twice, ...wrong];
}

function duplicatesOf(deliveries: readonly DeliveryRecord[]): string[] {
  const seen = new Set<string>();
  return deliveries.flatMap(({ eventId }) => {
    if (seen.has(eventId)) return [eventId];
    seen.add(eventId);
    return [];
  });
}

/** The end of a job is not sent before its beginning was taken. */
function checkOrder(tenant: TenantRecord, { received }: History): Violation[] {
  const byJob = Map.groupBy(
    received.filter(({ account, jobId }) => account === tenant.id && jobId !== null),
    ({ jobId }) => jobId ?? '',
  );
  return [...byJob].flatMap(([jobId, requests]) => {
    const started = requests.find(({ event, status }) => event === 'job.started' && status === 200);
    const ended = requests.find(({ event }) => END.test(event));
    if (ended === undefined || (started !== undefined && started.at <= ended.at)) return [];
    const wasStarted = tenant.deliveries.some(
      (delivery) => delivery.jobId === jobId && delivery.event === 'job.started',
    );
    if (!wasStarted) return [];
    return [{ check: 'order', what: `the end of job ${jobId} of ${tenant.id} was sent before its start` }];
  });
}

/** Every tick from the first to the last is in the history once: as a run, or among those that were missed. */
function checkTicks({ id, runs, everyMs }: TenantRecord): Violation[] {
  const spans = runs
    .filter(({ trigger }) => trigger === 'tick')
    .map(({ at, missed }) => {
      const from = Date.parse(at);
      return { from, until: missed === null ? from : Date.parse(missed.lastAt) };
    })
    .toSorted((a, b) => a.from - b.from);
  return spans.slice(1).flatMap(({ from }, index) => {
    const expected = (spans[index]?.until ?? 0) + everyMs;
    if (from === expected) return [];
    const what = `a tick of ${id} came at ${new Date(from).toISOString()} in place of ${new Date(expected).toISOString()}`;
    return [{ check: 'tick', what }];
  });
}
