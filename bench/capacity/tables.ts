import type { Table } from '../part.ts';
import { figure } from '../report.ts';
import type { CrawlCosts } from './crawl-costs.ts';
import { ASSUMED_PRICES, type CapacityPlan, type PageKind, planCapacity } from './plan.ts';
import type { SimulatedRun } from './simulation.ts';
import type { CommitLoad } from './store-costs.ts';

/** The result for one simulated fleet. */
export interface Simulated extends SimulatedRun {
  readonly workers: number;
  readonly shards: number;
  readonly coresPerShard: number;
}

/** A pair that can be compared: the same load, measured and simulated. */
export interface Compared {
  readonly measured: CommitLoad;
  readonly simulated: SimulatedRun;
}

export const RATES = [1, 10, 100, 1_000];
/** What comes in for a page of the web, in KB: its document; for a rendered one also scripts, styles and data. */
export const INBOUND_KB: Readonly<Record<PageKind, number>> = { static: 100, rendered: 1_000 };
const KINDS: readonly PageKind[] = ['static', 'rendered'];

export const plansOf = (costs: CrawlCosts): CapacityPlan[] =>
  KINDS.flatMap((kind) =>
    RATES.map((pagesPerSecond) => planCapacity(costs, { kind, pagesPerSecond, inboundKb: INBOUND_KB[kind] })),
  );

export function pageTable({ static: plain, rendered }: CrawlCosts): Table {
  const row = (name: string, of: (costs: CrawlCosts[PageKind]) => number, unit: string) => [
    name,
    ...[plain, rendered].map((costs) => (of(costs) > 0 ? `${figure(of(costs))}${unit}` : '')),
  ];
  const mb = (role: string) => (costs: CrawlCosts[PageKind]) => (costs.memoryBytes[role] ?? Number.NaN) / 1e6;
  return {
    columns: ['per page', 'static', 'rendered'],
    rows: [
      row('CPU of http-workers', ({ cpuMs }) => cpuMs.workers, ' ms'),
      row('CPU of browser workers', ({ cpuMs }) => cpuMs.browsers, ' ms'),
      row('CPU of PostgreSQL', ({ cpuMs }) => cpuMs.PostgreSQL, ' ms'),
      row('CPU of Redis', ({ cpuMs }) => cpuMs.Redis, ' ms'),
      row('CPU of api and scheduler', ({ cpuMs }) => cpuMs.api + cpuMs.scheduler, ' ms'),
      row('statements to PostgreSQL', ({ statements }) => statements, ''),
      row('WAL', ({ walBytes }) => walBytes / 1_000, ' KB'),
      row('rows and indexes in PostgreSQL', ({ databaseBytes }) => databaseBytes / 1_000, ' KB'),
      row('commands to Redis', ({ redisCommands }) => redisCommands, ''),
      row('requests to S3', ({ s3Requests }) => s3Requests, ''),
      row('those that write', ({ s3Writes }) => s3Writes, ''),
      row('a stored body', ({ storedBytes }) => storedBytes / 1_000, ' KB'),
      row('peak memory of an http-worker', mb('http-worker'), ' MB'),
      row('peak memory of a browser worker', mb('browser-worker'), ' MB'),
      row('peak memory of an api', mb('api'), ' MB'),
      row('peak memory of a scheduler', mb('scheduler'), ' MB'),
    ],
  };
}

export function sizesTable(costs: CrawlCosts): Table {
  return {
    columns: [
      'pages/s',
      'http-workers, 2 vCPU',
      'browser workers, 4 vCPU',
      'apis',
      'PostgreSQL, vCPU',
      'connections',
      'statements/s',
      'WAL, MB/s',
      'database, GB/day',
      'Redis, commands/s',
      'S3, requests/s',
      'S3, GB/day',
      'inbound, Mbit/s',
      'hosts, at least',
    ],
    rows: plansOf(costs).map((plan) => [
      `${plan.pagesPerSecond.toLocaleString('en')} ${plan.kind}`,
      String(plan.httpWorkers),
      plan.kind === 'static' ? '' : String(plan.browserWorkers),
      String(plan.apis),
      String(plan.databaseVcpus),
      String(plan.databaseConnections),
      figure(plan.statementsPerSecond),
      figure(plan.walMbPerSecond),
      figure(plan.databaseGbPerDay),
      figure(plan.redisCommandsPerSecond),
      figure(plan.objectRequestsPerSecond),
      figure(plan.objectGbPerDay),
      figure(plan.inboundMbitPerSecond),
      figure(plan.hosts),
    ]),
  };
}

export function pricesTable(): Table {
  const prices = ASSUMED_PRICES;
  return {
    columns: ['what', `dollars (${prices.asOf})`],
    rows: [
      ['vCPU-hour of a container', String(prices.vcpuHour)],
      ['GB-hour of its memory', String(prices.memoryGbHour)],
      ['vCPU-hour of PostgreSQL as a service, with its memory', String(prices.databaseVcpuHour)],
      ['GB-month of its disk', String(prices.databaseGbMonth)],
      ['hour of a small Redis as a service', String(prices.redisHour)],
      ['million requests that write to the object store', String(prices.millionWrites)],
      ['million other requests to it', String(prices.millionReads)],
      ['GB-month in the object store', String(prices.objectGbMonth)],
      ['GB that comes in through a gateway', String(prices.gatewayGb)],
    ],
  };
}

export function millionTable(costs: CrawlCosts): Table {
  return {
    columns: [
      'a million pages at',
      'days',
      'machines',
      'PostgreSQL',
      'Redis',
      'S3 requests',
      'a month of storage',
      'gateway',
      'together',
    ],
    rows: plansOf(costs).map(({ kind, pagesPerSecond, dollarsPerMillion: dollars }) => [
      `${pagesPerSecond.toLocaleString('en')} ${kind} pages/s`,
      figure(1e6 / pagesPerSecond / 86_400),
      ...[
        dollars.machines,
        dollars.database,
        dollars.redis,
        dollars.requests,
        dollars.storage,
        dollars.gateway,
      ].map((value) => `$${value.toFixed(2)}`),
      `**$${dollars.total.toFixed(2)}**`,
    ]),
  };
}

/** By processor time, which does not depend on what else the machine does: a simulated core works all the time. */
export function comparedTable(compared: readonly Compared[]): Table {
  return {
    columns: [
      'clients',
      'pages a second of PostgreSQL’s processor time, measured',
      'simulated, with one core',
      'cores that PostgreSQL got',
      'pages/s, measured',
      'commit p50, measured',
    ],
    rows: compared.map(({ measured, simulated }) => [
      String(measured.clients),
      figure(1_000 / measured.cpuMsPerPage),
      figure(simulated.pagesPerSecond),
      figure((measured.pagesPerSecond * measured.cpuMsPerPage) / 1_000),
      figure(measured.pagesPerSecond),
      `${figure(measured.ms.p50)} ms`,
    ]),
  };
}

export function simulatedTable(runs: readonly Simulated[]): Table {
  return {
    columns: [
      'stores',
      'cores each',
      'workers',
      'pages/s',
      'pages a commit',
      'commit p50',
      'commit p99',
      'cores busy',
    ],
    rows: runs.map((run) => [
      String(run.shards),
      String(run.coresPerShard),
      String(run.workers),
      figure(run.pagesPerSecond),
      figure(run.pagesPerCommit),
      `${figure(run.commitMs.p50)} ms`,
      `${figure(run.commitMs.p99)} ms`,
      `${figure(run.busy * 100)} %`,
    ]),
  };
}
