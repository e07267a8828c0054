import { Counter, Histogram, Registry } from 'prom-client';
import { createApiMetrics } from '../src/core/observe/metrics/api-metrics.ts';
import { createCrawlMetrics } from '../src/core/observe/metrics/crawl-metrics.ts';
import type { MetricMakers } from '../src/core/observe/metrics/makers.ts';
import { addSources, type MetricSources } from '../src/core/observe/metrics/sources.ts';
import { createWorkMetrics } from '../src/core/observe/metrics/work-metrics.ts';

/** One metric of `/metrics`, as docs/metrics.md lists it. */
export interface ListedMetric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
  /** Which processes have it. */
  readonly of: string;
}

const EVERY = 'every process';

/** Every metric of the program, in the order in which the program makes them. */
export function listMetrics(): readonly ListedMetric[] {
  const listed: ListedMetric[] = [];
  const record = (of: string) => recorder((metric) => listed.push({ ...metric, of }));
  const api = createApiMetrics(record(EVERY));
  api.observeUnread(() => 0);
  api.observeRequestBytes(() => 0);
  createCrawlMetrics(record(EVERY), 1);
  createWorkMetrics(record(EVERY));
  for (const [of, sources] of Object.entries(SOURCES)) {
    addSources(
      recorder((metric) => {
        if (of === EVERY || metric.name !== 'scrapifie_info') listed.push({ ...metric, of });
      }),
      { ...NO_SOURCES, ...sources },
    );
  }
  return listed;
}

const NO_SOURCES: MetricSources = {
  info: { version: '', role: '' },
  crawl: null,
  installation: null,
  browsers: null,
  proxies: () => null,
  readerLags: null,
  redisCommands: null,
  disk: null,
};
const never = () => Promise.reject(new Error('A list of metrics reads no values.'));
const SOURCES: Readonly<Record<string, Partial<MetricSources>>> = {
  [EVERY]: {},
  'workers that fetch': {
    crawl: { activeSlices: () => 0, hostSlots: 0, inFlightFetches: () => 0, fetchSlots: 0 },
  },
  'API and scheduler': { installation: { figures: never, waiting: never, processes: () => ({}) } },
  'processes with browsers': { browsers: { figures: () => null, pageSlots: 0, solvers: () => [] } },
  scheduler: { readerLags: () => [] },
  'with Redis': { redisCommands: () => 0 },
  'without PostgreSQL': { disk: never },
};

/** Makers that only write down what they are asked to make. */
function recorder(add: (metric: Omit<ListedMetric, 'of'>) => void): MetricMakers {
  const registers = [new Registry()];
  return {
    counter(name, help, labels = []) {
      add({ name, type: 'counter', labels, help });
      return new Counter({ name, help, labelNames: [...labels], registers });
    },
    timer(name, help, _buckets, labels = []) {
      add({ name, type: 'histogram', labels, help });
      return () => undefined;
    },
    histogram(name, help, buckets) {
      add({ name, type: 'histogram', labels: [], help });
      return new Histogram({ name, help, buckets: [...buckets], registers });
    },
    gauge: (name, help) => add({ name, type: 'gauge', labels: [], help }),
    gauges: (name, help, labels) => add({ name, type: 'gauge', labels, help }),
    countOf: (name, help, labels) => add({ name, type: 'counter', labels, help }),
  };
}
