import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { withChartSettings } from '../../scripts/chart-settings.ts';
import {
  auditActionsTable,
  errorsTable,
  exitCodesTable,
  metricsTable,
  queryFieldsTable,
  settingsTable,
  withSection,
} from '../../scripts/docs.ts';
import { loadSettings } from '../../src/core/config/load.ts';
import { documentedSettings, envExample } from '../../src/core/config/setting-list.ts';
import { environmentName, settingNames } from '../../src/core/config/settings.ts';
import { ERRORS, type ErrorSpec, EXIT } from '../../src/core/errors/registry.ts';
import { AUDIT_ACTIONS } from '../../src/core/model/audit-actions.ts';
import { readSources } from './sources.ts';

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const stale = 'run: node scripts/write-docs.ts';

/** The cells of the table row that begins with this cell. */
function row(page: string, first: string): string[] | undefined {
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  const cells = rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return cells.find(([cell]) => cell === first);
}

describe('docs/configuration.md', () => {
  const page = read('docs/configuration.md');

  it('is up to date with the schema', () => {
    expect(page, stale).toBe(withSection(page, 'settings', settingsTable()));
  });

  it.each(settingNames)('has a row for %s with its default and description', (name) => {
    const setting = documentedSettings().find(({ variable }) => variable === environmentName(name));
    expect(setting?.description).toMatch(/^[A-Z].*\.$/);
    const [, shownDefault, description] = row(page, `\`${environmentName(name)}\``) ?? [];
    expect(description).toBe(setting?.description);
    expect(shownDefault).toContain(setting?.defaultValue ?? 'not set');
  });
});

it('docs/query.md is up to date with the catalogue of fields', () => {
  const page = read('docs/query.md');
  expect(page, stale).toBe(withSection(page, 'fields', queryFieldsTable()));
});

it('the schema of the Helm chart lists the settings that its values take', () => {
  const schema = read('deploy/helm/scrapifie/values.schema.json');
  expect(schema, stale).toBe(withChartSettings(schema));
});

it('docs/metrics.md is up to date with the metrics of the program', () => {
  const page = read('docs/metrics.md');
  expect(page, stale).toBe(withSection(page, 'metrics', metricsTable()));
});

describe('docs/security.md', () => {
  const page = read('docs/security.md');
  const sources = readSources().filter(({ path }) => path !== 'core/model/audit-actions.ts');

  it('is up to date with the registry of audit actions', () => {
    expect(page, stale).toBe(withSection(page, 'audit-actions', auditActionsTable()));
  });

  it.each(Object.keys(AUDIT_ACTIONS))('lists %s, which the program writes', (action) => {
    const [subject, verb] = action.split('.');
    const isWritten = (text: string) =>
      text.includes(`'${action}'`) || (text.includes(`\`${subject}.$`) && text.includes(`'${verb}'`));
    expect(sources.some(({ text }) => isWritten(text))).toBe(true);
  });
});

describe('.env.example', () => {
  const text = read('.env.example');

  it('is up to date with the schema', () => {
    expect(text, stale).toBe(envExample());
  });

  it('changes nothing when it is copied, also with every line switched on', () => {
    const defaults = loadSettings({}, { cwd: '/nowhere' });
    const switchedOn = parseEnv(text.replace(/^#(?=SCRAPIFIE_)/gm, ''));
    expect(loadSettings(parseEnv(text), { cwd: '/nowhere' })).toEqual(defaults);
    expect(Object.keys(switchedOn).sort()).toEqual(settingNames.map(environmentName).sort());
    expect(loadSettings(switchedOn, { cwd: '/nowhere' })).toEqual(defaults);
  });
});

describe('docs/errors.md', () => {
  const page = read('docs/errors.md');

  it('is up to date with the registry', () => {
    const errors = withSection(page, 'errors', errorsTable());
    expect(page, stale).toBe(withSection(errors, 'exit-codes', exitCodesTable()));
  });

  it.each(Object.entries<ErrorSpec>(ERRORS))('has a row for %s', (code, spec) => {
    expect(row(page, `\`${code}\``)).toEqual([
      `\`${code}\``,
      String(spec.httpStatus),
      `\`${spec.retry}\``,
      String(spec.exitCode),
      spec.meaning,
    ]);
  });

  it.each(Object.entries(EXIT))('has a row for the exit code of "%s"', (_, exitCode) => {
    expect(row(page, String(exitCode))?.[1]).toMatch(/^[A-Z].*\.$/);
  });

  it('lists only exit codes that exist', () => {
    const known: readonly number[] = Object.values(EXIT);
    for (const { exitCode } of Object.values<ErrorSpec>(ERRORS)) expect(known).toContain(exitCode);
  });
});
