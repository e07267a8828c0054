import { expect, it } from 'vitest';
import { needsOf } from '../needs.ts';

it.each([
  ['src/crawl/politeness/gate.test.ts', [], [], 'embedded*'],
  ['test/fleet/render.test.ts', ['servers'], [], 'fleet'],
  ['test/contract/store-postgres.test.ts', ['servers'], [], 'fleet'],
  ['test/integration/rendering.test.ts', ['browser'], [], 'embedded*'],
  ['test/dashboard/dashboard.test.ts', ['browser', 'dashboard'], [], 'embedded*'],
  ['test/mcp/conformance.test.ts', [], ['test/mcp'], 'embedded*'],
  ['test/sdk/scenarios.test.ts', ['clients'], [], 'embedded*'],
] as const)('%s needs %j and the packages of %j, and runs in %s', (file, targets, folders, project) => {
  expect(needsOf(file)).toEqual({ targets, folders, project });
});
