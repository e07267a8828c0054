import { setTimeout as delay } from 'node:timers/promises';
import { randomFrom } from '../site/random.ts';
import { startSite } from '../site/site.ts';
import { type Behaviour, type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { callKilled, type KilledProcesses, type KillProfile, startKilled } from './killed-processes.ts';

export interface WebhookKillOptions {
  readonly profile: KillProfile;
  readonly kills: number;
  /** Jobs that are begun between two kills. */
  readonly jobsPerLife: number;
  readonly pagesPerJob: number;
  /** Decides what is killed, when, and what the receiver does. */
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface WebhookKillReport {
  readonly kills: number;
  readonly jobs: number;
  readonly deliveries: number;
  readonly requests: number;
  /** Messages that were received with success more than once: a kill came before the success was stored. */
  readonly repeated: number;
  readonly problems: readonly string[];
}

const WEBHOOKS = { '/all': ['job.*', 'page.*'], '/ends': ['job.*'] } as const;
const WAIT_MS = 180_000;

/** Runs jobs while processes are killed, and says what became of their events. */
export async function killWebhooks(options: WebhookKillOptions): Promise<WebhookKillReport> {
  const { kills, jobsPerLife, pagesPerJob, seed, say = () => undefined } = options;
  const random = randomFrom(seed);
  const site = await startSite({ pages: 1_000 });
  const receiver = await startReceiver();
  receiver.behave((_message, earlier) => moodOf(random(), earlier));
  const processes = await startKilled(options.profile);
  const killedAt: number[] = [];
  const jobs: string[] = [];
  try {
    const ids: Record<string, string> = {};
    for (const [path, events] of Object.entries(WEBHOOKS)) {
      const hook = { url: `${receiver.url}${path}`, events };
      ids[path] = (await callKilled<{ id: string }>(processes, 'POST', '/v1/webhooks', hook)).id;
    }
    for (let life = 0; life <= kills; life += 1) {
      for (let count = 0; count < jobsPerLife; count += 1) {
        const number = life * jobsPerLife + count;
        const urls = Array.from(
          { length: pagesPerJob },
          (_, page) => `${site.hostUrl(number % 8)}/big/${page}`,
        );
        const job = await callKilled<{ id: string }>(
          processes,
          'POST',
          '/v1/batch',
          { urls },
          `job-${number}`,
        );
        jobs.push(job.id);
      }
      if (life === kills) break;
      const until = receiver.received.length + Math.floor(random() * 2 * jobsPerLife * pagesPerJob);
      const patience = performance.now() + 3_000;
      while (receiver.received.length < until && performance.now() < patience) await delay(2);
      killedAt.push(Date.now());
      const name = await processes.kill(random);
      say(`kill ${life + 1}: ${name} after ${receiver.received.length} requests`);
    }
    await waitForEnds(processes, Object.values(ids), receiver, jobs.length, pagesPerJob);
    const problems: string[] = [];
    let deliveries = 0;
    for (const [path, id] of Object.entries(ids)) {
      const made = await listDeliveries(processes, id);
      deliveries += made.length;
      problems.push(...problemsOf(path, made, receiver, { jobs, pagesPerJob, killedAt }));
    }
    const repeated = repeatedIn(receiver).length;
    return {
      kills: killedAt.length,
      jobs: jobs.length,
      deliveries,
      requests: receiver.received.length,
      repeated,
      problems,
    };
  } finally {
    await processes.close();
    await receiver.close();
    await site.close();
  }
}

/** Most messages are taken at once, some late, some not at the first time. */
function moodOf(chance: number, earlier: number): Behaviour {
  if (earlier < 2 && chance < 0.04) return 500;
  if (earlier < 2 && chance < 0.06) return 'reset';
  return chance < 0.3 ? { delayMs: Math.round(chance * 300) } : 200;
}

interface DeliveryView {
  readonly id: string;
  readonly eventId: string;
  readonly event: string;
  readonly jobId: string;
  readonly state: string;
  readonly endedAt: string | null;
}

/** Returns all deliveries, the oldest first. */
async function listDeliveries(processes: KilledProcesses, id: string, query = ''): Promise<DeliveryView[]> {
  const all: DeliveryView[] = [];
  let cursor: string | null = null;
  do {
    const from: string = cursor === null ? '' : `&cursor=${cursor}`;
    const path = `/v1/webhooks/${id}/deliveries?limit=1000${query}${from}`;
    const slice: { items: DeliveryView[]; nextCursor: string | null } = await callKilled(
      processes,
      'GET',
      path,
    );
    all.push(...slice.items);
    cursor = slice.nextCursor;
  } while (cursor !== null);
  return all.reverse();
}

/** Resolves when every job has told its end to every webhook, and nothing is open. */
async function waitForEnds(
  processes: KilledProcesses,
  ids: readonly string[],
  receiver: Receiver,
  jobs: number,
  pagesPerJob: number,
): Promise<void> {
  const until = performance.now() + WAIT_MS;
  const wanted = jobs * (pagesPerJob + 4);
  for (;;) {
    const heard = new Set(receiver.received.map(({ path, message }) => `${path} ${message.id}`)).size;
    if (heard >= wanted) {
      const open = await Promise.all(ids.map((id) => listDeliveries(processes, id, '&state=pending')));
      if (open.every((each) => each.length === 0)) return;
    }
    // What is missing then is a problem that the judgement names.
    if (performance.now() > until) return;
    await delay(200);
  }
}

interface Expected {
  readonly jobs: readonly string[];
  readonly pagesPerJob: number;
  readonly killedAt: readonly number[];
}

function problemsOf(
  path: string,
  deliveries: readonly DeliveryView[],
  receiver: Receiver,
  expected: Expected,
): string[] {
  const problems: string[] = [];
  const taken = receiver.received.filter((each) => each.path === path && each.status === 200);
  const firstTaken = new Map<string, number>();
  for (const [index, { message }] of taken.entries()) {
    if (!firstTaken.has(message.id)) firstTaken.set(message.id, index);
  }
  const wantsPages = path === '/all';
  for (const jobId of expected.jobs) {
    const own = deliveries.filter((each) => each.jobId === jobId);
    const types = own.map(({ event }) => event);
    const pages = types.filter((type) => type === 'page.done').length;
    const isWhole =
      types[0] === 'job.started' &&
      types.at(-1) === 'job.completed' &&
      pages === (wantsPages ? expected.pagesPerJob : 0);
    if (!isWhole || own.length !== pages + 2)
      problems.push(`${path}: job ${jobId} was told as ${types.join(' ')}`);
    const places = own.map(({ eventId }) => firstTaken.get(eventId) ?? -1);
    if (places.includes(-1)) problems.push(`${path}: a message of job ${jobId} was lost`);
    if (places.some((place, at) => at > 0 && place < (places[at - 1] ?? 0))) {
      problems.push(`${path}: the messages of job ${jobId} came in another order`);
    }
  }
  const undelivered = deliveries.filter(({ state }) => state !== 'delivered');
  if (undelivered.length > 0)
    problems.push(`${path}: ${undelivered.length} deliveries are ${undelivered[0]?.state}`);
  if (new Set(deliveries.map(({ eventId }) => eventId)).size !== deliveries.length) {
    problems.push(`${path}: an event became two deliveries`);
  }
  for (const { id, path: where, times } of repeatedIn(receiver)) {
    if (where !== path) continue;
    for (let at = 1; at < times.length; at += 1) {
      const [before = 0, after = 0] = [times[at - 1], times[at]];
      if (!expected.killedAt.some((killed) => killed >= before - 1_000 && killed <= after)) {
        problems.push(`${path}: message ${id} was sent again although no process had died`);
      }
    }
  }
  const endOf = new Map(deliveries.map(({ eventId, endedAt }) => [eventId, Date.parse(endedAt ?? '')]));
  for (const { at, message } of taken) {
    if (at > (endOf.get(message.id) ?? Number.POSITIVE_INFINITY) + CLOCK_MS) {
      problems.push(`${path}: message ${message.id} was sent after its success was stored`);
    }
  }
  return problems;
}

/** The clock of the store and that of this process may differ by this much. */
const CLOCK_MS = 50;

/** Messages that were taken more than once, with the times. */
function repeatedIn({ received }: Receiver) {
  const taken = Map.groupBy(
    received.filter(({ status }) => status === 200),
    ({ path, message }) => `${path} ${message.id}`,
  );
  return [...taken.values()].flatMap((each) => {
    const [first] = each;
    if (first === undefined || each.length < 2) return [];
    return [{ id: first.message.id, path: first.path, times: each.map(({ at }) => at) }];
  });
}
