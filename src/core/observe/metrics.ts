import { collectDefaultMetrics, Registry, type RegistryContentType } from 'prom-client';
import { type ApiMetrics, createApiMetrics } from './metrics/api-metrics.ts';
import { type CrawlMetrics, createCrawlMetrics } from './metrics/crawl-metrics.ts';
import { createMakers, type TraceIds } from './metrics/makers.ts';
import { addSources, type MetricSources } from './metrics/sources.ts';
import { createWorkMetrics, type WorkMetrics } from './metrics/work-metrics.ts';

/**
 * What this process counts; docs/metrics.md lists all of it. Labels come from short fixed lists (routes, engines,
 * outcomes): no URLs, nothing that a stranger can choose, and of hosts only the few that are asked most.
 */
export interface Metrics extends ApiMetrics, CrawlMetrics, WorkMetrics {
  /** The text that a Prometheus server reads. A source that fails leaves its metric without a value. */
  render(): Promise<string>;
  /** The figures in the format that the Accept header of a request asks for. */
  scrape(accept: string | undefined): Promise<{ readonly contentType: string; readonly text: string }>;
  /** Where the gauges look. Called once, when the parts are wired; before that they have no value. */
  observe(sources: MetricSources): void;
}

interface MetricsOptions {
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

const OPENMETRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

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

interface Sample {
  readonly value: number;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly metricName?: string;
  readonly exemplar?: {
    readonly labelSet: Readonly<Record<string, string>>;
    readonly value: number;
    readonly timestamp: number;
  } | null;
}

/** Whether an Accept header asks for OpenMetrics, which Prometheus does: only that format has exemplars. */
function wantsOpenMetrics(accept: string | undefined): boolean {
  return accept !== undefined && /application\/openmetrics-text/i.test(accept);
}

/**
 * The metrics as OpenMetrics text. It is written here because the library renames its counters for good when it writes
 * this format, and one registry has to serve both.
 */
async function openMetricsText(registry: Registry<RegistryContentType>): Promise<string> {
  const lines: string[] = [];
  for (const { name, help, type, values } of await registry.getMetricsAsJSON()) {
    // A counter is a family without the ending that its samples have.
    const family = String(type) === 'counter' ? name.replace(/_total$/, '') : name;
    lines.push(`# TYPE ${family} ${type}`, `# HELP ${family} ${escaped(help)}`);
    for (const sample of values as readonly Sample[]) lines.push(sampleLine(name, sample));
  }
  return `${lines.join('\n')}\n# EOF\n`;
}

function sampleLine(name: string, { metricName = name, labels, value, exemplar }: Sample): string {
  const line = `${metricName}${labelsText(labels)} ${numberText(value)}`;
  if (exemplar == null) return line;
  const { labelSet, timestamp } = exemplar;
  return `${line} # ${labelsText(labelSet)} ${numberText(exemplar.value)} ${timestamp}`;
}

function labelsText(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escaped(String(value))}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
