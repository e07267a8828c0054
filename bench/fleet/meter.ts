import type { RoleProcess } from '../../fleet/role-process.ts';
import type { Place } from './place.ts';
import { type ProcessTimes, processTimes, treeSeconds } from './process-times.ts';

/** Whose processor time is told apart. `proxy` is the process that measures, where the proxy runs. */
export const KINDS = [
  'workers',
  'browsers',
  'api',
  'scheduler',
  'proxy',
  'PostgreSQL',
  'Redis',
  'S3',
  'site',
] as const;
export type Kind = (typeof KINDS)[number];

/** What was used so far. */
export interface Usage {
  readonly cpuSeconds: Readonly<Record<Kind, number>>;
  /** Commands that the processes sent to Redis. */
  readonly redisCommands: number;
  /** What Redis did for them, scripts unfolded. */
  readonly redisSteps: number;
  readonly redisBytes: number;
  /** Statements that clients sent to the database. */
  readonly statements: number;
  /** What PostgreSQL wrote to its log, all databases together. */
  readonly walBytes: number;
  /** The size of the database with its indexes. */
  readonly databaseBytes: number;
  readonly s3Requests: number;
  /** Requests that write an object, which cost the most where requests are paid for. */
  readonly s3Writes: number;
}

export interface Meter {
  read(): Promise<Usage>;
}

export interface MeterOptions {
  readonly place: Place;
  readonly processes: readonly RoleProcess[];
  /** The database whose statements count. */
  readonly database: string;
  readonly sitePid: number;
}

const S3_NAMES = /^(ceph-|radosgw|minio)/;
const MEASURED = `
  SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal,
  (SELECT pg_database_size(oid)::float8 FROM pg_database WHERE datname = $1) AS size, (
    SELECT coalesce(sum(calls), 0)::float8 FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
    WHERE d.datname = $1
  ) AS statements`;

export function createMeter({ place, processes, database, sitePid }: MeterOptions): Meter {
  const ofRoles = (all: readonly ProcessTimes[], isOne: (process: RoleProcess) => boolean) =>
    sum(processes.filter(isOne).map(({ pid }) => treeSeconds(all, pid)));

  function cpuSeconds(): Usage['cpuSeconds'] {
    const all = processTimes();
    const s3 = all.filter(({ parent, name }) => parent === process.pid && S3_NAMES.test(name));
    return {
      workers: ofRoles(all, ({ role }) => role === 'all' || role === 'http-worker'),
      browsers: ofRoles(all, ({ role }) => role === 'browser-worker'),
      api: ofRoles(all, ({ role }) => role === 'api'),
      scheduler: ofRoles(all, ({ role }) => role === 'scheduler'),
      proxy: sum(Object.values(process.cpuUsage())) / 1e6,
      PostgreSQL: treeSeconds(all, place.postgres.pid),
      Redis: treeSeconds(all, place.redis.pid),
      S3: s3.length === 0 ? Number.NaN : sum(s3.map(({ pid }) => treeSeconds(all, pid))),
      site: treeSeconds(all, sitePid),
    };
  }

  return {
    async read() {
      const [row, redis, commands] = await Promise.all([
        place.query(MEASURED, [database]),
        place.redisInfo(),
        Promise.all(processes.map(({ origin }) => redisCommands(origin ?? ''))),
      ]);
      return {
        cpuSeconds: cpuSeconds(),
        redisCommands: sum(commands),
        redisSteps: redis.steps,
        redisBytes: redis.receivedBytes,
        statements: Number(row.statements),
        walBytes: Number(row.wal),
        databaseBytes: Number(row.size),
        s3Requests: place.s3Requests().all,
        s3Writes: place.s3Requests().writes,
      };
    },
  };
}

/** What was used between two readings. */
export function usedBetween(before: Usage, after: Usage): Usage {
  const cpu = KINDS.map((kind) => [kind, after.cpuSeconds[kind] - before.cpuSeconds[kind]] as const);
  return {
    cpuSeconds: Object.fromEntries(cpu) as Record<Kind, number>,
    redisCommands: after.redisCommands - before.redisCommands,
    redisSteps: after.redisSteps - before.redisSteps,
    redisBytes: after.redisBytes - before.redisBytes,
    statements: after.statements - before.statements,
    walBytes: after.walBytes - before.walBytes,
    databaseBytes: after.databaseBytes - before.databaseBytes,
    s3Requests: after.s3Requests - before.s3Requests,
    s3Writes: after.s3Writes - before.s3Writes,
  };
}

async function redisCommands(origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const value = /^scrapifie_redis_commands_total (\d+)/m.exec(text)?.[1];
  if (value === undefined) throw new Error(`${origin} does not count its commands to Redis.`);
  return Number(value);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
