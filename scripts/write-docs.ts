// Brings .env.example, the tables in docs/ and the schema of the Helm chart up to date with the settings schema, the error registry, the
// request schemas and the last measurement of capacity. Run it after a change to one of them: node scripts/write-docs.ts
import { readFileSync, writeFileSync } from 'node:fs';
import { envExample } from '../src/core/config/setting-list.ts';
import { withChartSettings } from './chart-settings.ts';
import { dashboardChoices } from './dashboard-choices.ts';
import {
  auditActionsTable,
  capacitySections,
  errorsTable,
  eventsTable,
  exitCodesTable,
  exportFormatsTable,
  exportTypesTable,
  metricsTable,
  optionsTable,
  pageOptionsTable,
  queryFieldsTable,
  reasonsTable,
  settingsTable,
  webhookEventsTable,
  withSection,
} from './docs.ts';

const at = (file: string): URL => new URL(`../${file}`, import.meta.url);

function rewrite(file: string, sections: Readonly<Record<string, string>>): void {
  let page = readFileSync(at(file), 'utf8');
  for (const [name, content] of Object.entries(sections)) page = withSection(page, name, content);
  writeFileSync(at(file), page);
}

writeFileSync(at('.env.example'), envExample());
rewrite('docs/configuration.md', { settings: settingsTable() });
rewrite('docs/errors.md', { errors: errorsTable(), 'exit-codes': exitCodesTable() });
rewrite('docs/scrape-options.md', { 'page-options': pageOptionsTable() });
rewrite('docs/command-line.md', { options: optionsTable() });
rewrite('docs/query.md', { fields: queryFieldsTable() });
rewrite('docs/scaling.md', capacitySections());
const CHART_SCHEMA = 'deploy/helm/scrapifie/values.schema.json';
writeFileSync(at(CHART_SCHEMA), withChartSettings(readFileSync(at(CHART_SCHEMA), 'utf8')));
rewrite('docs/security.md', { 'audit-actions': auditActionsTable() });
rewrite('docs/job-views.md', { reasons: reasonsTable() });
rewrite('docs/events.md', { events: eventsTable() });
rewrite('docs/webhooks.md', { events: webhookEventsTable() });
rewrite('docs/exports.md', { types: exportTypesTable(), formats: exportFormatsTable() });
writeFileSync(at('dashboard/src/api/choices.ts'), dashboardChoices());
rewrite('docs/metrics.md', { metrics: metricsTable() });
