import { chosenOf, DATASOURCE, INSTALLATION, PROCESSES } from './variables.ts';

/** A dashboard as it is written by hand; `dashboardJson` makes the file that Grafana reads. */
export interface DashboardSource {
  /** The name of the file, and a part of the address in Grafana. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly rows: readonly DashboardRow[];
  /** Numbers that the operator sets at the top of the dashboard, such as prices. */
  readonly inputs?: readonly { readonly name: string; readonly label: string; readonly value: string }[];
}

interface DashboardRow {
  readonly title: string;
  /** Whether the role and the process that are chosen at the top apply: all its metrics are of single processes. */
  readonly byProcess?: boolean;
  readonly panels: readonly PanelSource[];
}

export interface PanelSource {
  readonly kind: 'graph' | 'stacked' | 'stat' | 'gauge' | 'table' | 'bars';
  readonly title: string;
  /** Grafana's name of the unit. */
  readonly unit: string;
  readonly help: string;
  readonly queries: readonly QuerySource[];
  /** From this value on the panel turns yellow, and from the second on red. */
  readonly limits?: readonly [warning: number, critical: number];
}

interface QuerySource {
  readonly expr: string;
  readonly legend: string;
}

/** Widths of panels, in a dashboard of 24 columns. */
const WIDTHS: Readonly<Record<PanelSource['kind'], number>> = {
  graph: 8,
  stacked: 8,
  stat: 4,
  gauge: 4,
  table: 12,
  bars: 12,
};
const HEIGHTS: Readonly<Record<PanelSource['kind'], number>> = {
  graph: 8,
  stacked: 8,
  stat: 4,
  gauge: 4,
  table: 9,
  bars: 9,
};
const COLUMNS = 24;
/** Version of the format that Grafana 11 and later read. */
const SCHEMA_VERSION = 39;

export function dashboardJson({ name, title, description, rows, inputs = [] }: DashboardSource): string {
  const panels: object[] = [];
  let y = 0;
  for (const row of rows) {
    panels.push(
      rowPanel(panels.length + 1, `${row.title}${row.byProcess ? ' (of the processes chosen)' : ''}`, y),
    );
    y += 1;
    let x = 0;
    let height = 0;
    for (const source of row.panels) {
      const [w, h] = [WIDTHS[source.kind], HEIGHTS[source.kind]];
      if (x + w > COLUMNS) {
        y += height;
        [x, height] = [0, 0];
      }
      panels.push(panelOf(panels.length + 1, chosenOf(source, row.byProcess), { x, y, w, h }));
      x += w;
      height = Math.max(height, h);
    }
    y += height;
  }
  const dashboard = {
    uid: `scrapifie-${name}`,
    title: `Scrapifie: ${title}`,
    description,
    tags: ['scrapifie'],
    timezone: 'browser',
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    schemaVersion: SCHEMA_VERSION,
    version: 1,
    time: { from: 'now-6h', to: 'now' },
    links: [
      {
        type: 'dashboards',
        title: 'Scrapifie',
        tags: ['scrapifie'],
        asDropdown: true,
        includeVars: true,
        keepTime: true,
      },
    ],
    annotations: { list: [] },
    templating: {
      list: [
        {
          name: 'datasource',
          label: 'Prometheus',
          type: 'datasource',
          query: 'prometheus',
          current: {},
          hide: 0,
        },
        INSTALLATION,
        ...(rows.some(({ byProcess }) => byProcess) ? PROCESSES : []),
        ...inputs.map(({ name: input, label, value }) => ({
          name: input,
          label,
          type: 'textbox',
          query: value,
          current: { text: value, value },
          options: [{ selected: true, text: value, value }],
          hide: 0,
        })),
      ],
    },
    panels,
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

const rowPanel = (id: number, title: string, y: number) => ({
  id,
  type: 'row',
  title,
  collapsed: false,
  gridPos: { x: 0, y, w: COLUMNS, h: 1 },
  panels: [],
});

function panelOf(id: number, source: PanelSource, gridPos: object): object {
  const { kind, title, unit, help, queries, limits } = source;
  const isInstant = kind === 'table' || kind === 'bars';
  const steps = [
    { color: 'green', value: null },
    ...(limits === undefined
      ? []
      : [
          { color: 'yellow', value: limits[0] },
          { color: 'red', value: limits[1] },
        ]),
  ];
  return {
    id,
    type: TYPES[kind],
    title,
    description: help,
    gridPos,
    datasource: DATASOURCE,
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
      ...(isInstant ? { instant: true, range: false, format: 'table' } : { range: true }),
      ...(kind === 'bars' ? { format: 'time_series' } : {}),
      exemplar: expr.includes('_bucket') && kind === 'graph',
    })),
    fieldConfig: {
      defaults: {
        unit,
        min: kind === 'table' ? undefined : 0,
        thresholds: { mode: 'absolute', steps },
        ...(kind === 'graph' || kind === 'stacked' ? { custom: lineOf(kind) } : {}),
      },
      overrides: [],
    },
    options: OPTIONS[kind],
  };
}

const TYPES: Readonly<Record<PanelSource['kind'], string>> = {
  graph: 'timeseries',
  stacked: 'timeseries',
  stat: 'stat',
  gauge: 'gauge',
  table: 'table',
  bars: 'bargauge',
};
const lineOf = (kind: 'graph' | 'stacked') => ({
  lineWidth: 1,
  fillOpacity: kind === 'stacked' ? 40 : 8,
  showPoints: 'never',
  stacking: { mode: kind === 'stacked' ? 'normal' : 'none', group: 'A' },
});
const CALC = { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false } };
const LEGEND = {
  legend: { displayMode: 'list', placement: 'bottom' },
  tooltip: { mode: 'multi', sort: 'desc' },
};
const OPTIONS: Readonly<Record<PanelSource['kind'], object>> = {
  graph: LEGEND,
  stacked: LEGEND,
  stat: { ...CALC, colorMode: 'value', graphMode: 'area' },
  gauge: { ...CALC },
  table: { showHeader: true, cellHeight: 'sm' },
  bars: { ...CALC, displayMode: 'basic', orientation: 'horizontal' },
};
