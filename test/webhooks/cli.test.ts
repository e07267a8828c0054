import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiWorld, openApiWorld } from '../integration/api-world.ts';
import { runCommand } from '../integration/cli-command.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const LIMIT_MS = 60_000;
let world: ApiWorld;
let receiver: Receiver;
let api: string;
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'scrapifie-webhooks-cli-'));
  receiver = await startReceiver();
  world = await openApiWorld();
  api = await world.api.listen({ host: '127.0.0.1', port: 0 });
}, LIMIT_MS);
afterAll(async () => {
  await world.close();
  await receiver.close();
  rmSync(dir, { recursive: true, force: true });
}, LIMIT_MS);

const command = (args: readonly string[], env: Record<string, string>) =>
  runCommand(['webhooks', ...args], { cwd: dir, env });
const onServer = (...args: string[]) => command([...args, '--api', api], { SCRAPIFIE_API_KEY: world.secret });
const inFolder = (...args: string[]) => command([...args, '--data-dir', dir], {});

describe.each([
  ['with a server', onServer],
  ['on a data folder', inFolder],
] as const)('scrapifie webhooks %s', (_, webhooks) => {
  it(
    'makes, shows, tests, changes and deletes webhooks, and sends deliveries again',
    async () => {
      const json = async (...args: string[]) => {
        const { exitCode, stdout, stderr } = await webhooks(...args, '--json');
        expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
        return JSON.parse(stdout.split('\n')[0] ?? '') as Record<string, unknown> & { id: string };
      };
      const { id, secret } = await json(
        'create',
        `${receiver.url}/cli`,
        '--event',
        'job.*',
        '--event',
        'page.done',
      );
      expect(secret).toMatch(/^whsec_/);
      expect(await json('show', id)).toMatchObject({ events: ['job.*', 'page.done'], enabled: true });
      expect((await webhooks('list')).stdout).toContain(id);
      const test = await json('test', id);
      expect((await webhooks('deliveries', id)).stdout).toContain(test.id);
      const again = await json('redeliver', test.id);
      expect(await json('delivery', again.id)).toMatchObject({ redeliveryOf: test.id });
      expect((await json('rotate', id, '--overlap-hours', '1')).secret).not.toBe(secret);
      expect(await json('change', id, '--disable')).toMatchObject({ enabled: false, disabledReason: 'user' });
      expect(await webhooks('test', id)).toMatchObject({
        exitCode: expect.any(Number),
        stderr: expect.stringContaining('disabled'),
      });
      expect(await json('change', id, '--enable', '--event', '*')).toMatchObject({
        enabled: true,
        events: ['*'],
      });
      expect(await json('delete', id)).toEqual({ id, deleted: true });
      const gone = await webhooks('show', id);
      expect(gone.stderr).toContain('NOT_FOUND');
      expect(gone.exitCode).not.toBe(0);
    },
    LIMIT_MS,
  );

  it('names the flag that is wrong', async () => {
    const wrong = await webhooks('create', 'https://a.example/', '--event', 'nonsense');
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain('--event');
  });
});
