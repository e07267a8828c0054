import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { planCapacity } from '../../bench/capacity/plan.ts';
import { type StoreCosts, simulateFleet } from '../../bench/capacity/simulation.ts';
import { capacityData, capacitySections, withSection } from '../../scripts/docs.ts';
import { randomFrom } from '../site/random.ts';

const { crawls } = capacityData();
const plan = (kind: 'static' | 'rendered', pagesPerSecond: number) =>
  planCapacity(crawls, { kind, pagesPerSecond, inboundKb: 100 });

describe('capacity', () => {
  test('the tables of docs/scaling.md are those that follow from the last measurement', () => {
    const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
    for (const [name, content] of Object.entries(capacitySections())) {
      expect(withSection(page, name, content) === page, `run scripts/write-docs.ts: ${name}`).toBe(true);
    }
  });

  test('ten times the pages take ten times the processors, statements and requests', () => {
    for (const kind of ['static', 'rendered'] as const) {
      const [small, large] = [plan(kind, 1_000), plan(kind, 10_000)];
      expect(large.statementsPerSecond).toBeCloseTo(10 * small.statementsPerSecond);
      expect(large.objectRequestsPerSecond).toBeCloseTo(10 * small.objectRequestsPerSecond);
      expect(large.httpWorkers).toBeLessThanOrEqual(10 * small.httpWorkers);
      expect(large.dollarsPerMillion.total).toBeLessThanOrEqual(small.dollarsPerMillion.total);
    }
  });

  test('a price is the sum of its parts, and requests cost the same at every rate', () => {
    const { total, ...parts } = plan('static', 100).dollarsPerMillion;
    expect(total).toBeCloseTo(Object.values(parts).reduce((sum, value) => sum + value));
    expect(parts.requests).toBe(plan('static', 1).dollarsPerMillion.requests);
  });
});

describe('the simulation of commits', () => {
  const costs: StoreCosts = { fixedMs: 1, perPageMs: 0.1, ratios: [1], otherPerPageMs: 0, syncMs: 2 };
  const run = (workers: number, shards = 1, coresPerShard = 1) =>
    simulateFleet(
      costs,
      { workers, shards, coresPerShard, pagesPerWorkerSecond: 1_000 },
      { seconds: 20, random: randomFrom(1) },
    );

  test('commits what a single worker brings, with the time that a commit takes', () => {
    const { pagesPerSecond, pagesPerCommit, commitMs } = run(1);
    expect(pagesPerSecond / 1_000).toBeCloseTo(1, 1);
    expect(commitMs.p50).toBeCloseTo(costs.fixedMs + pagesPerCommit * costs.perPageMs + costs.syncMs, 0);
  });

  test('never commits more than the cores of the stores can, however many workers there are', () => {
    const most = 256 / (costs.fixedMs + 256 * costs.perPageMs);
    expect(run(64).pagesPerSecond).toBeLessThanOrEqual(most * 1_000 * 1.01);
    expect(run(64).pagesPerSecond).toBeGreaterThan(most * 1_000 * 0.9);
    expect(run(64).busy).toBeGreaterThan(0.95);
  });

  test('two stores commit twice what one does, once one is full', () => {
    expect(run(64, 2).pagesPerSecond / run(64, 1).pagesPerSecond).toBeCloseTo(2, 1);
  });

  test('more workers make commits larger and slower', () => {
    const [few, many] = [run(2), run(32)];
    expect(many.pagesPerCommit).toBeGreaterThan(few.pagesPerCommit);
    expect(many.commitMs.p99).toBeGreaterThan(few.commitMs.p99);
  });
});
