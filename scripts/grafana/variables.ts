import type { PanelSource } from './panels.ts';

export const DATASOURCE = { type: 'prometheus', uid: `\${datasource}` };

/** A choice at the top of a dashboard: one, several or all values of a label. */
const choice = (name: string, label: string, query: string, allValue?: string) => ({
  name,
  label,
  type: 'query',
  datasource: DATASOURCE,
  definition: query,
  query: { query, refId: name },
  // Asked again when the time changes, because processes come and go.
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  ...(allValue === undefined ? {} : { allValue }),
  current: { text: ['All'], value: ['$__all'] },
  hide: 0,
});

/** "All" also finds series without the label, of a Prometheus that does not set it. */
export const INSTALLATION = choice(
  'installation',
  'Installation',
  'label_values(up{job="scrapifie"}, installation)',
  '.*',
);

/** Series carry no role, so the role narrows the list of processes, and "All" means all of that list. */
export const PROCESSES = [
  choice('role', 'Role', 'label_values(scrapifie_info{installation=~"$installation"}, role)', '.*'),
  choice(
    'instance',
    'Process',
    'label_values(scrapifie_info{installation=~"$installation",role=~"$role"}, instance)',
  ),
];

const SELECTOR = /\b(scrapifie[_:][\w:]+|process_\w+|up)\b(?:\{([^}]*)\})?/g;

/** The panel with every metric of its queries narrowed to what is chosen at the top. */
export function chosenOf(source: PanelSource, byProcess = false): PanelSource {
  const chosen = `installation=~"$installation"${byProcess ? ',instance=~"$instance"' : ''}`;
  const narrowed = (expr: string) =>
    expr.replaceAll(SELECTOR, (_, metric: string, labels?: string) =>
      labels === undefined ? `${metric}{${chosen}}` : `${metric}{${labels},${chosen}}`,
    );
  return {
    ...source,
    queries: source.queries.map(({ expr, legend }) => ({ expr: narrowed(expr), legend })),
  };
}
