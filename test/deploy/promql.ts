import { parser } from '@prometheus-io/lezer-promql';

/** One selector of a query: the metric that it names, and the labels that it asks for. */
export interface UsedMetric {
  readonly name: string;
  readonly labels: readonly string[];
}

export interface ReadQuery {
  /** Where the query is no PromQL. */
  readonly problem: string | null;
  readonly metrics: readonly UsedMetric[];
  /** Labels of `by`, `on` and the like. */
  readonly groupedBy: readonly string[];
}

/** A query of a dashboard with numbers and times in place of Grafana's variables. */
export function withoutVariables(query: string): string {
  return query.replaceAll(/\$__(?:rate_interval|range)/g, '5m').replaceAll(/\$[a-z_]+/g, '1');
}

/** Reads a query by the grammar of Prometheus' own editor. */
export function readQuery(query: string): ReadQuery {
  const text = withoutVariables(query);
  const metrics: { name: string; labels: string[] }[] = [];
  const groupedBy: string[] = [];
  let problem: string | null = null;
  parser.parse(text).iterate({
    enter({ name, from, to, type, node }) {
      const found = text.slice(from, to);
      if (type.isError) problem ??= `near "${text.slice(Math.max(0, from - 20), to + 20)}"`;
      if (name === 'VectorSelector') metrics.push({ name: '', labels: [] });
      const last = metrics.at(-1);
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector' && last !== undefined)
        last.name = found;
      if (name !== 'LabelName') return;
      if (node.parent?.name === 'GroupingLabels') groupedBy.push(found);
      else last?.labels.push(found);
    },
  });
  return { problem, metrics, groupedBy };
}
