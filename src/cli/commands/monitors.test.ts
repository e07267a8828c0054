import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../../../test/integration/cli-command.ts';

it.each(['monitors', 'schedules'])('%s are listed with their interval in human units', async (command) => {
  const dir = mkdtempSync(join(tmpdir(), 'scrapifie-monitors-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const run = (...args: string[]) => runCommand([command, ...args, '--data-dir', dir], { cwd: dir });
  expect((await run('create', 'news', 'https://example.com/', '--every', '1h')).stderr).toBe('');
  expect((await run('list')).stdout).toMatch(/news\s+active\s+every 1h\s/);
});
