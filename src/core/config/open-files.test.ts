import { describe, expect, it } from 'vitest';
import { loadSettings } from './load.ts';
import { budgetFiles, LEAST_OPEN_FILES, openFileLimit } from './open-files.ts';

const DEFAULTS = loadSettings({}, { cwd: '/' });

describe('the budget of open files', () => {
  it('is what the settings allow where there is no limit, or a high one', () => {
    const { maxConnections, maxConcurrency } = DEFAULTS;
    for (const limit of [null, 1_048_576, 65_536]) {
      expect(budgetFiles(limit, DEFAULTS)).toMatchObject({ maxConnections, maxConcurrency, isShort: false });
    }
  });

  it('keeps clients, crawls and the process itself within the limit, whatever it is', () => {
    const fleet = { ...DEFAULTS, databaseUrl: 'postgres://127.0.0.1/x', firecrawlPort: 3_002 };
    for (const settings of [DEFAULTS, fleet]) {
      for (let limit = LEAST_OPEN_FILES; limit < 20_000; limit += 61) {
        const { maxConnections, maxConcurrency, siteConnections } = budgetFiles(limit, settings);
        const ports = settings.firecrawlPort === undefined ? 1 : 2;
        expect(maxConnections * ports + siteConnections).toBeLessThan(limit - 40);
        expect(Math.min(maxConnections, maxConcurrency)).toBeGreaterThanOrEqual(4);
        expect(maxConcurrency * 2).toBeLessThanOrEqual(siteConnections);
      }
    }
  });

  it('says when the limit is too small for what the settings allow', () => {
    expect(budgetFiles(256, DEFAULTS)).toMatchObject({
      maxConnections: 87,
      maxConcurrency: 28,
      isShort: true,
    });
    expect(budgetFiles(256, { ...DEFAULTS, maxConnections: 50, maxConcurrency: 20 })).toMatchObject({
      maxConnections: 50,
      maxConcurrency: 20,
      isShort: false,
    });
  });

  it('is made of the limit of this process', () => {
    const limit = openFileLimit();
    expect(limit === null || limit > 100).toBe(true);
  });
});
