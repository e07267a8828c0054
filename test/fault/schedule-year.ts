import { createJobs, type Jobs } from '../../src/capabilities/jobs/jobs.ts';
import { scheduleRequestSchema } from '../../src/capabilities/schedules/schedule-request.ts';
import { runSchedules } from '../../src/capabilities/schedules/schedule-runs.ts';
import { createSchedules } from '../../src/capabilities/schedules/schedules.ts';
import { ticksByDefinition } from '../../src/capabilities/schedules/tick-definition.fixture.ts';
import type { AccountId, ScheduleId } from '../../src/core/model/ids.ts';
import type { Blobs } from '../../src/core/ports/blobs.ts';
import type { Store } from '../../src/core/ports/store.ts';

export interface YearOptions {
  /** Opens a migrated, empty store on this clock. */
  readonly open: (now: () => number) => Promise<Store>;
  readonly from: number;
  readonly to: number;
  readonly lines: readonly YearLine[];
  readonly seed: number;
  /** How likely it is that a scheduler dies before a step, and again after it. */
  readonly killChance: number;
}

export interface YearLine {
  readonly cron: string;
  readonly isNamed: (hour: number, minute: number) => boolean;
}

export interface YearReport {
  readonly ticks: number;
  readonly kills: number;
  readonly turns: number;
  readonly problems: readonly string[];
}

export const YEAR_ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'] as const;
const SCHEDULERS = 2;
/** Turns, each a second apart, within which the runs of a tick are decided despite the kills. */
const MAX_TURNS = 50;
const SECOND_MS = 1_000;

/** What a scheduler sees of its own death. */
class Killed extends Error {}

/**
 * Two schedulers run the schedules of three zones while the clock of the store goes from tick to tick. Each of them dies
 * at random before or after a step of the store, so that its work stays half done, and another takes its place. In the end
 * every tick of the definition has one job, and nothing else has one.
 */
export async function simulateYear(options: YearOptions): Promise<YearReport> {
  const { from, to, lines, killChance } = options;
  const random = createRandom(options.seed);
  let time = from - SECOND_MS;
  let kills = 0;
  let turns = 0;
  const store = await options.open(() => time);
  try {
    const account = await store.defaultAccount();
    const jobs = jobsOf(store, () => time);
    const expected = new Map<ScheduleId, readonly number[]>();
    const schedules = createSchedules({ store, jobs, vault: null, leastSeconds: 1 });
    for (const timeZone of YEAR_ZONES) {
      for (const { cron, isNamed } of lines) {
        const name = `${cron} ${timeZone}`;
        const job = { kind: 'scrape', url: 'https://example.com/' };
        const request = scheduleRequestSchema.parse({ name, cron, timeZone, job });
        const { id } = await schedules.create(request, { accountId: account, credentials: 'none' });
        expected.set(id, ticksByDefinition(timeZone, [from, to], isNamed));
      }
    }

    /** A scheduler that dies at this turn, at one of its steps, or does not. */
    const turn = async () => {
      turns += 1;
      const mortal = killable(store, () => random() < killChance);
      const deps = { store: mortal, jobs: jobsOf(mortal, () => time), vault: null, logger: SILENT };
      try {
        await runSchedules(deps);
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        kills += 1;
      }
    };
    const moments = [...new Set([...expected.values()].flat())].sort((a, b) => a - b);
    const started = new Map<string, number>();
    for (const moment of moments) {
      time = moment;
      for (let tries = 0; ; tries++) {
        await Promise.all(Array.from({ length: SCHEDULERS }, turn));
        const isDone =
          (await store.listDueSchedules(1)).items.length === 0 &&
          (await store.listOpenRuns({ limit: 1 })).length === 0;
        if (isDone || tries === MAX_TURNS) break;
        time += SECOND_MS;
      }
      await endJobs(store, account, started);
    }
    return {
      ticks: moments.length,
      kills,
      turns,
      problems: await problemsOf(store, account, expected, started),
    };
  } finally {
    await store.close();
  }
}

/** Jobs that have begun since the last call: counted, and ended, so that the next run of the schedule may begin. */
async function endJobs(store: Store, accountId: AccountId, started: Map<string, number>): Promise<void> {
  const { items } = await store.listJobs({ accountId, status: 'queued', limit: 1_000 });
  for (const { id } of items) {
    started.set(id, (started.get(id) ?? 0) + 1);
    await store.cancelJob(id);
  }
}

async function problemsOf(
  store: Store,
  accountId: AccountId,
  expected: ReadonlyMap<ScheduleId, readonly number[]>,
  started: ReadonlyMap<string, number>,
): Promise<string[]> {
  const problems: string[] = [];
  let jobs = 0;
  for (const [scheduleId, ticks] of expected) {
    // The first 48 bits of the id of a job are the time of its tick.
    const seen: number[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await store.listJobs({ accountId, scheduleId, limit: 1_000, cursor });
      for (const { id } of page.items) seen.push(Number.parseInt(id.replace('-', '').slice(0, 12), 16));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    jobs += seen.length;
    const unique = new Set(seen);
    if (unique.size !== seen.length)
      problems.push(`${scheduleId}: ${seen.length - unique.size} ticks ran twice`);
    const lost = ticks.filter((tick) => !unique.has(tick));
    const extra = seen.filter((tick) => !ticks.includes(tick));
    if (lost.length > 0)
      problems.push(`${scheduleId}: lost ${lost.slice(0, 3).map(iso).join()} (${lost.length})`);
    if (extra.length > 0)
      problems.push(`${scheduleId}: extra ${extra.slice(0, 3).map(iso).join()} (${extra.length})`);
    const { items } = await store.listRuns({ accountId, scheduleId, limit: 1_000 });
    const odd = items.filter(({ status, isLate }) => status !== 'started' || isLate);
    if (odd.length > 0) problems.push(`${scheduleId}: ${odd.length} runs were not started in time`);
  }
  if (jobs !== started.size) problems.push(`${jobs} jobs of schedules, but ${started.size} jobs`);
  return problems;
}

const iso = (at: number) => new Date(at).toISOString();
const SILENT = { warn: () => undefined };

function jobsOf(store: Store, now: () => number): Jobs {
  return createJobs({
    store,
    blobs: null as unknown as Blobs,
    bus: {
      publish: () => undefined,
      subscribe: () => () => undefined,
      check: async () => undefined,
      close: async () => undefined,
    },
    queue: { offer: async () => undefined },
    now,
    random: Math.random,
    maxQueuedUrls: Number.POSITIVE_INFINITY,
    consents: () => true,
  });
}

/** The store as a process uses it that dies before or after some of its calls; a dead one gets no further answer. */
function killable(store: Store, dies: () => boolean): Store {
  let isDead = false;
  const step = () => {
    isDead ||= dies();
    if (isDead) throw new Killed();
  };
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
      return async (...values: unknown[]) => {
        step();
        const answer = await method.apply(target, values);
        step();
        return answer;
      };
    },
  });
}

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
