// Writes the dashboards of Grafana from the files of scripts/grafana. Run it after a change there:
// node scripts/write-dashboards.ts
import { writeFileSync } from 'node:fs';
import { DASHBOARDS } from './grafana/dashboards.ts';
import { dashboardJson } from './grafana/panels.ts';

for (const source of DASHBOARDS) {
  const file = new URL(`../deploy/grafana/dashboards/${source.name}.json`, import.meta.url);
  writeFileSync(file, dashboardJson(source));
}
