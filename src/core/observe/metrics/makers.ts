import { Counter, Gauge, Histogram, type Registry, type RegistryContentType } from 'prom-client';

/** The ids of the span that is active where a value is observed. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** One value of a metric that is read when the metrics are scraped. */
interface LabelledValue<L extends string> {
  readonly labels: Readonly<Record<L, string>>;
  readonly value: number;
}

type Source<T> = () => T | Promise<T>;

/** Makes the metrics of one registry. Names, labels and help texts are those of docs/metrics.md. */
export interface MetricMakers {
  /** `zeros`: label values that are there from the start, so that the first event already shows as a growth. */
  counter<L extends string = never>(
    name: string,
    help: string,
    labelNames?: readonly L[],
    zeros?: readonly Readonly<Record<L, string>>[],
  ): Counter<L>;
  /** Milliseconds go in and seconds come out, as Prometheus has it. Values carry the ids of the active trace. */
  timer<L extends string = never>(
    name: string,
    help: string,
    bucketSeconds: readonly number[],
    labelNames?: readonly L[],
  ): (ms: number, labels?: Readonly<Record<L, string>>) => void;
  histogram(name: string, help: string, buckets: readonly number[]): Histogram;
  gauge(name: string, help: string, source: Source<number>): void;
  /** A gauge whose labels may come and go between two scrapes. */
  gauges<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    source: Source<readonly LabelledValue<L>[]>,
  ): void;
  /** A counter whose values another part keeps. */
  countOf<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    source: Source<readonly LabelledValue<L>[]>,
  ): void;
}

export function createMakers(
  registry: Registry<RegistryContentType>,
  traceOf: () => TraceIds | null,
): MetricMakers {
  const registers = [registry];

  /** A source that fails leaves its metric without a value: the store being away must not hide every other figure. */
  async function read<L extends string>(
    metric: { reset(): void },
    source: Source<readonly LabelledValue<L>[]>,
    take: (one: LabelledValue<L>) => void,
  ): Promise<void> {
    try {
      const values = await source();
      metric.reset();
      for (const one of values) take(one);
    } catch {
      metric.reset();
    }
  }

  return {
    counter<L extends string = never>(
      name: string,
      help: string,
      labelNames: readonly L[] = [],
      zeros: readonly Readonly<Record<L, string>>[] = [],
    ) {
      const counter = new Counter<L>({ name, help, labelNames: [...labelNames], registers });
      for (const labels of zeros) counter.inc(labels, 0);
      return counter;
    },
    timer<L extends string = never>(
      name: string,
      help: string,
      bucketSeconds: readonly number[],
      labelNames: readonly L[] = [],
    ) {
      const buckets = [...bucketSeconds];
      const more = { labelNames: [...labelNames], registers, enableExemplars: true };
      const histogram = new Histogram<L>({ name, help, buckets, ...more });
      return (ms: number, labels?: Readonly<Record<L, string>>) => {
        const trace = traceOf();
        const value = ms / 1_000;
        if (trace === null) histogram.observe({ ...(labels === undefined ? {} : { labels }), value });
        else {
          // These labels are none of the metric, which its type does not know.
          const ids: Record<string, string> = { trace_id: trace.traceId, span_id: trace.spanId };
          const exemplarLabels = ids as Partial<Record<L, string>>;
          histogram.observe({ ...(labels === undefined ? {} : { labels }), value, exemplarLabels });
        }
      };
    },
    histogram: (name, help, buckets) => new Histogram({ name, help, buckets: [...buckets], registers }),
    gauge(name, help, source) {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          try {
            this.set(await source());
          } catch {
            this.remove();
          }
        },
      });
    },
    gauges(name, help, labelNames, source) {
      new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers,
        collect() {
          return read(this, source, ({ labels, value }) => this.set(labels, value));
        },
      });
    },
    countOf(name, help, labelNames, source) {
      new Counter({
        name,
        help,
        labelNames: [...labelNames],
        registers,
        collect() {
          return read(this, source, ({ labels, value }) => this.inc(labels, value));
        },
      });
    },
  };
}

const OTHER = 'other';

/**
 * Lets a bounded number of well-formed label values through and turns the rest into `other`. Every value of a
 * label is a time series that is kept for good: a URL, a host or a secret must never become one.
 */
export class LabelGuard {
  readonly #pattern: RegExp;
  readonly #maxValues: number;
  readonly #seen = new Set<string>();

  constructor(pattern: RegExp, maxValues: number) {
    this.#pattern = pattern;
    this.#maxValues = maxValues;
  }

  admit(value: string): string {
    if (this.#seen.has(value)) return value;
    if (this.#seen.size >= this.#maxValues || !this.#pattern.test(value)) return OTHER;
    this.#seen.add(value);
    return value;
  }
}
