import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ExportView } from '../../src/capabilities/views/export-view.ts';
import { type Site, startSite } from '../site/site.ts';
import { endCommands, originOf, runCommand, startCommand, temporaryFolder } from './cli-command.ts';
import { QUICK_POLICY } from './world.ts';

const KEY = 'a-key-for-the-export-tests';
const WAIT = { timeout: 60_000, interval: 20 };
const folder = temporaryFolder();
let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: 300 });
});
afterAll(async () => {
  await endCommands();
  await site.close();
  folder.remove();
});

const read = (...path: string[]) => readFileSync(join(folder.path(path[0] ?? ''), ...path.slice(1)));

describe('exports on the command line', { timeout: 240_000 }, () => {
  it('a crawl writes them beside its pages, and the command the same bytes', async () => {
    const crawl = [
      'crawl',
      site.urlOf('shop', '/shop/'),
      '--out',
      'shop',
      '--rate',
      'unlimited',
      '--allow-private',
    ];
    const options = { cwd: folder.path('') };
    const crawled = await runCommand(
      [...crawl, '--quiet', '--export', 'full:csv', '--export', 'seo:xlsx'],
      options,
    );
    expect(crawled).toMatchObject({ exitCode: 0, stderr: '' });
    const full = read('shop', 'full.csv');
    expect(full.toString()).toMatch(/^url,final_url,http_status,fetched_at,title,h1,price,/);
    expect(read('shop', 'seo.xlsx').subarray(0, 2).toString()).toBe('PK');
    const at = ['--data-dir', 'shop'];
    const args = ['export', 'latest', '--type', 'full', '--format', 'csv', ...at];
    expect(await runCommand([...args, '--out', 'again.csv'], options)).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    expect(read('again.csv')).toEqual(full);
    expect((await runCommand([...args, '--out', '-'], options)).stdout).toBe(full.toString());
    const again = await runCommand([...crawl, '--if-modified', '--export', 'seo:xlsx'], options);
    expect(again.stderr).toContain('Removed exports of the crawl before: full.csv, seo.xlsx.');
    expect(readdirSync(folder.path('shop')).filter((name) => /csv|xlsx/.test(name))).toEqual(['seo.xlsx']);
    const refused = await runCommand(
      ['export', 'latest', '--type', 'seo', '--format', 'markdown', ...at],
      options,
    );
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toMatch(/raw/);
    const missing = await runCommand([...args, '--out', 'no/such/folder.csv'], options);
    expect(missing.exitCode).toBe(5);
    expect(readdirSync(folder.path('')).filter((name) => name.includes('part'))).toEqual([]);
  });

  it('an export whose server is killed is written anew, whole, by the next one', async () => {
    writeFileSync(folder.path('policy.yaml'), QUICK_POLICY);
    const env = {
      SCRAPIFIE_DATA_DIR: folder.path('server'),
      SCRAPIFIE_API_KEY: KEY,
      SCRAPIFIE_POLICY_FILE: folder.path('policy.yaml'),
      SCRAPIFIE_CONTACT: 'mailto:me@example.com',
    };
    const serve = async () => {
      const server = startCommand(['serve', '--port', '0', '--allow-private'], { env });
      const origin = await originOf(server);
      const call = async (path: string, body?: object) => {
        const answer = await fetch(origin + path, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return ((await answer.json()) as { data: Record<string, unknown> }).data;
      };
      return { server, origin, call };
    };
    const first = await serve();
    const urls = Array.from({ length: 150 }, (_, at) => site.urlOf('default', `/big/${at + 1}`));
    const { id: job } = await first.call('/v1/batch', { urls, options: { formats: ['metadata', 'links'] } });
    await vi.waitFor(
      async () => expect((await first.call(`/v1/jobs/${job}`)).finishedAt).not.toBeNull(),
      WAIT,
    );
    // An export that is ready before it was seen at work is followed by another.
    const id = await vi.waitFor(async () => {
      const spec = { type: 'raw', format: 'markdown' };
      const { id: begun } = await first.call(`/v1/jobs/${job}/exports`, spec);
      let status: unknown = 'pending';
      while (status === 'pending') ({ status } = await first.call(`/v1/exports/${begun}`));
      expect(status).toBe('running');
      return begun;
    }, WAIT);
    first.server.child.kill('SIGKILL');
    await first.server.ended;
    const second = await serve();
    const made = await vi.waitFor(async () => {
      const now = (await second.call(`/v1/exports/${id}`)) as unknown as ExportView;
      expect(now.status).toBe('ready');
      return now;
    }, WAIT);
    const bytes = Buffer.from(await (await fetch(made.url ?? '')).arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(made.sha256);
    const files = readdirSync(join(folder.path('server'), 'exports'));
    const ofExport = files.filter((name) => name.startsWith(String(id)) && !name.endsWith('.partial'));
    expect(ofExport).toEqual([`${id}.2.zip`]);
    // The command line takes what the server writes, and leaves nothing there.
    const remote = [
      'export',
      String(job),
      '--type',
      'full',
      '--format',
      'csv',
      '--api',
      second.origin,
      '--api-key',
      KEY,
    ];
    const taken = await runCommand([...remote, '--out', folder.path('taken.csv')]);
    expect(taken).toMatchObject({ exitCode: 0, stderr: '' });
    expect(read('taken.csv').toString().split('\r\n')).toHaveLength(urls.length + 2);
    expect(existsSync(folder.path('taken.csv.part'))).toBe(false);
    const { items } = (await second.call('/v1/exports')) as { items: ExportView[] };
    expect(items.filter(({ type }) => type === 'full')).toEqual([]);
    second.server.child.kill('SIGTERM');
    expect((await second.server.ended).exitCode).toBe(0);
  });
});
