import type { Registry, RegistryContentType } from 'prom-client';

export const OPENMETRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

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
export function wantsOpenMetrics(accept: string | undefined): boolean {
  return accept !== undefined && /application\/openmetrics-text/i.test(accept);
}

/**
 * The metrics as OpenMetrics text. It is written here because the library renames its counters for good when it writes
 * this format, and one registry has to serve both.
 */
export async function openMetricsText(registry: Registry<RegistryContentType>): Promise<string> {
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
