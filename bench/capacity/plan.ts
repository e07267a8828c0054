import type { CrawlCosts, PageCosts } from './crawl-costs.ts';

/** Prices of a cloud in US dollars. Assumed, to be replaced by one's own. */
export interface CloudPrices {
  /** As of when, and where from. */
  readonly asOf: string;
  readonly vcpuHour: number;
  readonly memoryGbHour: number;
  /** PostgreSQL as a service, its memory included. */
  readonly databaseVcpuHour: number;
  readonly databaseGbMonth: number;
  /** The smallest Redis as a service that is more than a trial. */
  readonly redisHour: number;
  readonly millionWrites: number;
  readonly millionReads: number;
  readonly objectGbMonth: number;
  /** What a gateway takes for each gigabyte that comes in from the internet; nothing where workers have addresses of their own. */
  readonly gatewayGb: number;
}

/** Round figures near the list prices of a large cloud in a region of the United States, without discounts. */
export const ASSUMED_PRICES: CloudPrices = {
  asOf: 'November 2026, assumed',
  vcpuHour: 0.04,
  memoryGbHour: 0.0045,
  databaseVcpuHour: 0.08,
  databaseGbMonth: 0.12,
  redisHour: 0.035,
  millionWrites: 5,
  millionReads: 0.4,
  objectGbMonth: 0.023,
  gatewayGb: 0.045,
};

export type PageKind = keyof CrawlCosts;

export interface CapacityPlan {
  readonly kind: PageKind;
  readonly pagesPerSecond: number;
  readonly apis: number;
  /** Number of workers with two vCPUs and 2 GB each. */
  readonly httpWorkers: number;
  /** Number of workers with four vCPUs and 8 GB each. */
  readonly browserWorkers: number;
  readonly databaseVcpus: number;
  readonly databaseConnections: number;
  readonly statementsPerSecond: number;
  readonly walMbPerSecond: number;
  readonly databaseGbPerDay: number;
  readonly redisCommandsPerSecond: number;
  readonly objectRequestsPerSecond: number;
  readonly objectGbPerDay: number;
  readonly inboundMbitPerSecond: number;
  /** At two pages a second each, as the shipped policy has it. */
  readonly hosts: number;
  readonly dollarsPerMillion: {
    readonly machines: number;
    readonly database: number;
    readonly redis: number;
    readonly requests: number;
    /** Storage of a million pages for a month, in both places. */
    readonly storage: number;
    readonly gateway: number;
    readonly total: number;
  };
}

/** How much of its cores a machine is planned to use: the rest is for bursts and for the loss of another. */
const WORKER_LOAD = 0.6;
const DATABASE_LOAD = 0.5;
const HTTP_WORKER = { vcpus: 2, memoryGb: 2 };
const BROWSER_WORKER = { vcpus: 4, memoryGb: 8 };
const SMALL = { vcpus: 1, memoryGb: 1 };
const LEAST_DATABASE_VCPUS = 2;
const CONNECTIONS_PER_PROCESS = 8;
const PAGES_PER_HOST_SECOND = 2;

/** How many of what a fleet needs for so many pages a second, and what a million of them then costs. */
export function planCapacity(
  costs: CrawlCosts,
  wanted: { readonly kind: PageKind; readonly pagesPerSecond: number; readonly inboundKb: number },
  prices: CloudPrices = ASSUMED_PRICES,
): CapacityPlan {
  const { kind, pagesPerSecond, inboundKb } = wanted;
  const page: PageCosts = costs[kind];
  const cores = (cpuMs: number, load: number) => (pagesPerSecond * cpuMs) / 1_000 / load;
  const machines = (cpuMs: number, vcpus: number, least: number) =>
    Math.max(least, Math.ceil(cores(cpuMs, WORKER_LOAD) / vcpus));
  const apis = machines(page.cpuMs.api, SMALL.vcpus, 2);
  const httpWorkers = machines(page.cpuMs.workers, HTTP_WORKER.vcpus, 2);
  const browserWorkers = kind === 'static' ? 0 : machines(page.cpuMs.browsers, BROWSER_WORKER.vcpus, 2);
  const databaseVcpus = Math.max(
    LEAST_DATABASE_VCPUS,
    Math.ceil(cores(page.cpuMs.PostgreSQL, DATABASE_LOAD)),
  );
  const schedulers = 1;
  const processes = apis + httpWorkers + browserWorkers + schedulers;

  const hourOf = ({ vcpus, memoryGb }: typeof SMALL) =>
    vcpus * prices.vcpuHour + memoryGb * prices.memoryGbHour;
  const machineHour =
    (apis + schedulers) * hourOf(SMALL) +
    httpWorkers * hourOf(HTTP_WORKER) +
    browserWorkers * hourOf(BROWSER_WORKER);
  const hoursOfMillion = 1e6 / pagesPerSecond / 3_600;
  const gbOfMillion = (bytes: number) => (bytes * 1e6) / 1e9;
  const dollars = {
    machines: machineHour * hoursOfMillion,
    database: databaseVcpus * prices.databaseVcpuHour * hoursOfMillion,
    redis: prices.redisHour * hoursOfMillion,
    // Requests that delete cost nothing on most clouds and are counted as reads here.
    requests: page.s3Writes * prices.millionWrites + (page.s3Requests - page.s3Writes) * prices.millionReads,
    storage:
      gbOfMillion(page.databaseBytes) * prices.databaseGbMonth +
      gbOfMillion(page.storedBytes) * prices.objectGbMonth,
    gateway: gbOfMillion(inboundKb * 1_000) * prices.gatewayGb,
  };
  const gbPerDay = (bytes: number) => (bytes * pagesPerSecond * 86_400) / 1e9;
  return {
    ...{ kind, pagesPerSecond, apis, httpWorkers, browserWorkers, databaseVcpus },
    databaseConnections: processes * CONNECTIONS_PER_PROCESS,
    statementsPerSecond: page.statements * pagesPerSecond,
    walMbPerSecond: (page.walBytes * pagesPerSecond) / 1e6,
    databaseGbPerDay: gbPerDay(page.databaseBytes),
    redisCommandsPerSecond: page.redisCommands * pagesPerSecond,
    objectRequestsPerSecond: page.s3Requests * pagesPerSecond,
    objectGbPerDay: gbPerDay(page.storedBytes),
    inboundMbitPerSecond: (inboundKb * 8 * pagesPerSecond) / 1_000,
    hosts: Math.ceil(pagesPerSecond / PAGES_PER_HOST_SECOND),
    dollarsPerMillion: { ...dollars, total: Object.values(dollars).reduce((sum, value) => sum + value, 0) },
  };
}
