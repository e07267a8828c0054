import { collectDefaultMetrics, Registry, type RegistryContentType } from 'prom-client';
import { type ApiMetrics, createApiMetrics } from './metrics/api-metrics.ts';
import { type CrawlMetrics, createCrawlMetrics } from './metrics/crawl-metrics.ts';
import { createMakers, type TraceIds } from './metrics/makers.ts';
import { OPENMETRICS_TYPE, openMetricsText, wantsOpenMetrics } from './metrics/openmetrics.ts';
import { addSources, type MetricSources } from './metrics/sources.ts';
import { createWorkMetrics, type WorkMetrics } from './metrics/work-metrics.ts';

/**
 * What this process counts; docs/metrics.md lists all of it. Labels come from short fixed lists (routes, engines,
 * outcomes): no URLs, nothing that a stranger can choose, and of hosts only the few that are asked most.
 */
export interface Metrics extends ApiMetrics, CrawlMetrics, WorkMetrics {
  /** The text that a Prometheus server reads. A source that fails leaves its metric without a value. */
  render(): Promise<string>;
  /** The same in the format that the Accept header of a request asks for. */
  scrape(accept: string | undefined): Promise<{ readonly contentType: string; readonly text: string }>;
  /** Where the gauges look. Called once, when the parts are wired; before that they have no value. */
  observe(sources: MetricSources): void;
}

export interface MetricsOptions {
  /** Memory, CPU, event loop and garbage collection too. It starts timers, so only a long-lived process wants it. */
  readonly withProcess: boolean;
  /** How many hosts are shown by name; none unless given. */
  readonly hosts?: number;
  /** The active trace, whose ids are attached to observed times; null when there is none. */
  readonly traceOf?: () => TraceIds | null;
}

/** Gauges of the library whose names end as those of counters do. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Each call makes a registry of its own: two servers in one process, as in tests, do not count for each other. */
export function createMetrics(options: MetricsOptions): Metrics {
  // The library allows exemplars only while the registry is of the format that has them; it is read in both.
  const registry = new Registry<RegistryContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  if (options.withProcess) collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const make = createMakers(registry, options.traceOf ?? (() => null));
  const counted = {
    ...createApiMetrics(make),
    ...createCrawlMetrics(make, options.hosts ?? 0),
    ...createWorkMetrics(make),
  };
  registry.setContentType(Registry.PROMETHEUS_CONTENT_TYPE);
  const render = () => registry.metrics();
  return {
    ...counted,
    render,
    async scrape(accept) {
      return wantsOpenMetrics(accept)
        ? { contentType: OPENMETRICS_TYPE, text: await openMetricsText(registry) }
        : { contentType: registry.contentType, text: await render() };
    },
    observe: (sources) => addSources(make, sources),
  };
}
