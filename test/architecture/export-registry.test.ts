import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboardChoices } from '../../scripts/dashboard-choices.ts';
import { exportFormatsTable, exportTypesTable, withSection } from '../../scripts/docs.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the registry of exports', () => {
  it.each([
    ['types', exportTypesTable()],
    ['formats', exportFormatsTable()],
  ])('is what docs/exports.md lists as %s: else run `npm run docs`', (section, content) => {
    const page = read('docs/exports.md');
    expect(page).toBe(withSection(page, section, content));
  });
});

it('the lists of the dashboard are those of the registries: else run `npm run docs`', () => {
  expect(read('dashboard/src/api/choices.ts')).toBe(dashboardChoices());
});
