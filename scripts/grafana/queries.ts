import type { PanelSource } from './panels.ts';

/** Where several installations are chosen, each has lines of its own. */
export const query = (expr: string, legend = '') => ({ expr, legend: `${legend} {{installation}}`.trim() });
type Rest = Pick<PanelSource, 'limits'>;
const panel =
  (kind: PanelSource['kind']) =>
  (title: string, unit: string, help: string, queries: PanelSource['queries'], rest: Rest = {}) => ({
    ...{ kind, title, unit, help, queries },
    ...rest,
  });
export const graph = panel('graph');
export const stacked = panel('stacked');
export const stat = panel('stat');
export const gauge = panel('gauge');
export const table = panel('table');
export const bars = panel('bars');

const labels = (by: string) => (by === '' ? 'installation' : `installation, ${by}`);
/** A metric that is not there yet counts as 0 for every installation. */
export const orZero = (expr: string) => `(${expr} or 0 * sum by (installation) (scrapifie_info))`;
/** The rate of a counter in each step of a graph. */
export const rate = (counter: string, by = '') =>
  `sum by (${labels(by)}) (rate(${counter}[$__rate_interval]))`;
/** A percentile of a histogram in each step of a graph. */
export const percentile = (share: number, histogram: string, by = '') =>
  `histogram_quantile(${share}, sum by (le, ${labels(by)}) (rate(${histogram}_bucket[$__rate_interval])))`;
export const percentiles = (histogram: string) =>
  [0.5, 0.95, 0.99].map((share) => query(percentile(share, histogram), `p${share * 100}`));
