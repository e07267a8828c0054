import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HostKey } from '../../core/model/ids.ts';
import type { Policies } from './policies.ts';
import { type PolicyWatch, watchPolicyFile } from './policy-file.ts';

const INTERVAL_MS = 5;
let folder: string;
let path: string;
let watch: PolicyWatch | null = null;
let bursts: number[] = [];
let errors: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scrapifie-watch-'));
  path = join(folder, 'policy.yaml');
  bursts = [];
  errors = [];
  write(1);
});
afterEach(() => {
  watch?.close();
  rmSync(folder, { recursive: true });
});

function write(burst: number | string): void {
  writeFileSync(path, `default: { burst: ${burst} }\n`);
}
function start(): void {
  const onChange = (policies: Policies) => bursts.push(policies.policyFor('x.example' as HostKey).burst);
  watch = watchPolicyFile(path, onChange, (error) => errors.push(error.message), INTERVAL_MS);
}
const seen = (expected: () => boolean) => vi.waitUntil(expected, { timeout: 20_000, interval: INTERVAL_MS });

describe('a watched policy file', () => {
  it('is reported when it is written anew', async () => {
    start();
    write(2);
    await seen(() => bursts.includes(2));
    write(3);
    await seen(() => bursts.includes(3));
    expect(errors).toEqual([]);
  });

  it('is reported when an editor puts another file in its place', async () => {
    start();
    for (const burst of [4, 5]) {
      writeFileSync(`${path}.new`, `default: { burst: ${burst} }\n`);
      renameSync(`${path}.new`, path);
      await seen(() => bursts.at(-1) === burst);
    }
    expect(errors).toEqual([]);
  });

  it('that breaks is reported as an error once, and as a change when it is mended', async () => {
    start();
    write('many');
    await seen(() => errors.length > 0);
    write(6);
    await seen(() => bursts.length > 0);
    expect(bursts).toEqual([6]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/line 1: default\.burst/);
  });

  it('that disappears is reported once, and again when it is back', async () => {
    start();
    rmSync(path);
    await seen(() => errors.length > 0);
    write(7);
    await seen(() => bursts.length > 0);
    expect(bursts).toEqual([7]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/ENOENT/);
  });

  it('that is only touched is not reported', async () => {
    start();
    write(1);
    write(8);
    await seen(() => bursts.length > 0);
    expect(bursts).toEqual([8]);
  });

  it('is reported no more once the watching is closed', async () => {
    start();
    watch?.close();
    write(9);
    const closed = bursts;
    bursts = [];
    start();
    write(10);
    await seen(() => bursts.includes(10));
    expect(closed).toEqual([]);
    expect(bursts).toEqual([10]);
  });
});
