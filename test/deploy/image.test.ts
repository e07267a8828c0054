import { execFile } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startReverseProxy } from '../../fleet/reverse-proxy.ts';
import { freePort } from '../../fleet/servers/free-port.ts';
import { treePids } from '../../src/fetch/browser/pool/process-tree.ts';
import { QUICK_POLICY } from '../integration/world.ts';
import { SCRIPTED } from '../site/scripted.ts';
import { type Site, startSite } from '../site/site.ts';
import { type Container, startContainer, whyNoContainers } from './container.ts';
import { layOutImage } from './image-files.ts';
import { startLoad } from './load.ts';
import { imageConfig, ROOT, readText, stagesOf } from './readers/dockerfile.ts';

const LIMIT_MS = 120_000;
const API_KEY = 'a-key-for-the-tests-of-the-image';
/** How long a container has to drain, as the requirements say it. */
const DRAIN_MS = 30_000;
const PAGES = 2_000;
const UID = 1000;
const run = promisify(execFile);
const why = whyNoContainers();
if (why !== null) console.log(`the image's start command is NOT RUN: ${why}`);

/** The process below one of the container whose command fits. */
async function processOf(first: number, command: RegExp): Promise<{ readonly pid: number }> {
  for (const pid of await treePids(first)) {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    if (command.test(args) && args.includes('node')) return { pid };
  }
  throw new Error(`no process runs ${command}`);
}

describe.skipIf(why !== null)('the start command of the image, as its user on a read-only tree', () => {
  const image = imageConfig(stagesOf(readText('Dockerfile')), 'browser');
  let dir: string;
  let site: Site;
  let origin: string;
  let container: Container;
  let app: string;

  beforeAll(async () => {
    const cache = join(ROOT, 'node_modules/.cache');
    mkdirSync(cache, { recursive: true });
    // On the disk of this clone, so that files are linked and not copied.
    dir = mkdtempSync(join(cache, 'image-'));
    site = await startSite({ pages: PAGES, log: 'counts' });
    app = await layOutImage(dir);
    for (const [name, content] of [
      ['policy.yaml', QUICK_POLICY],
      // The base image has this user.
      ['passwd', 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n'],
      ['api-key', `${API_KEY}\n`],
    ] as const) {
      writeFileSync(join(dir, name), content);
    }
    mkdirSync(join(dir, 'data'), { mode: 0o700 });
    chownSync(join(dir, 'data'), UID, UID);
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    container = await startContainer({
      dir,
      command: [...image.entrypoint, ...image.command],
      variables: {
        ...image.variables,
        SCRAPIFIE_PORT: String(port),
        SCRAPIFIE_ALLOW_PRIVATE: 'true',
        SCRAPIFIE_POLICY_FILE: '/run/policy.yaml',
        SCRAPIFIE_API_KEY_FILE: '/run/secrets/api-key',
        SCRAPIFIE_CONTACT: 'https://example.com/bot',
        // There is a balancer before it.
        SCRAPIFIE_DRAIN_NOTICE_MS: '2000',
      },
      workdir: image.workdir,
      user: image.user,
      binds: [
        { from: app, to: '/app' },
        { from: join(dir, 'data'), to: '/data', isWritable: true },
        { from: join(dir, 'passwd'), to: '/etc/passwd' },
        { from: join(dir, 'policy.yaml'), to: '/run/policy.yaml' },
        { from: join(dir, 'api-key'), to: '/run/secrets/api-key' },
      ],
    });
    void container.ended.then((code) => {
      if (code !== 0) console.log(container.output());
    });
    await vi.waitFor(() => expect(container.output()).toContain('"msg":"ready"'), {
      timeout: LIMIT_MS,
      interval: 50,
    });
  }, 2 * LIMIT_MS);
  afterAll(async () => {
    // What a failed start has not made is not there.
    await (container as Container | undefined)?.kill();
    await site.close();
    rmSync(dir, { recursive: true, force: true });
  }, LIMIT_MS);

  const post = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
    const response = await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as { data: Record<string, unknown> } };
  };

  const jobOf = async (id: unknown) => {
    const response = await fetch(`${origin}/v1/jobs/${id}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    return ((await response.json()) as { data: unknown }).data;
  };

  it('has the files of the npm package and nothing else', () => {
    const { files } = JSON.parse(readText('package.json')) as { files: readonly string[] };
    const listed = files.filter((path) => !path.startsWith('!')).map((path) => path.split('/')[0] ?? '');
    const expected = new Set([...listed, 'package.json', 'LICENSE', 'README.md', 'node_modules']);
    expect(readdirSync(app).sort()).toEqual([...expected].sort());
    expect(readdirSync(join(app, 'node_modules'))).not.toContain('vitest');
  });

  it('runs without a right that it does not need, and may write to its data and to /tmp alone', () => {
    const status = readFileSync(`/proc/${container.pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\s+1000\s+1000\s+1000\s+1000$/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^CapBnd:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    const mounts = readFileSync(`/proc/${container.pid}/mountinfo`, 'utf8').trim().split('\n');
    const inside = mounts
      .map((line) => line.split(' '))
      .map(([, , , , place = '', options = '']) => ({ place, options }));
    const writable = inside
      .filter(({ options }) => options.split(',').includes('rw'))
      .map(({ place }) => place);
    const expected = ['/data', '/tmp', '/dev/shm', '/proc'];
    expect(writable.filter((place) => !place.startsWith('/dev/') || place === '/dev/shm').sort()).toEqual(
      expected.sort(),
    );
  });

  it('is healthy by the check of the image, and answers what probes and Prometheus ask', async () => {
    const [program = '', ...args] = image.healthcheck;
    expect(program).toBe('node');
    const check = (port: string) => run(process.execPath, args, { env: { SCRAPIFIE_PORT: port } });
    await check(new URL(origin).port);
    await expect(check('1')).rejects.toMatchObject({ code: 1 });
    const headers = { authorization: `Bearer ${API_KEY}` };
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect([path, (await fetch(`${origin}${path}`, { headers })).status]).toEqual([path, 200]);
    }
    expect((await fetch(`${origin}/`, { headers: { accept: 'text/html' } })).status).toBe(200);
    expect((await fetch(`${origin}/help/quickstart`)).status).toBe(200);
  });

  it('renders a page with the browser of the image', { timeout: LIMIT_MS }, async () => {
    const [page] = SCRIPTED.filter(({ plain }) => plain === 'needs-javascript');
    const url = `${site.hostUrl(1)}${page?.path}`;
    const { status, body } = await post('/v1/scrape', { url, formats: ['html'], timeoutMs: 60_000 });
    expect([status, body.data.html]).toEqual([200, expect.stringContaining(page?.shows ?? 'no page')]);
  });

  it('keeps data, secrets and environment of the server from the process that drives the browser', async () => {
    const server = await processOf(container.pid, /main\.js/);
    const driver = await processOf(container.pid, /render-child/);
    // The folders as this process sees them.
    const seen = (path: string) => readdirSync(`/proc/${driver.pid}/root${path}`);
    expect(readdirSync(`/proc/${server.pid}/root/data`)).toContain('vault.key');
    expect([seen('/data'), seen('/run/secrets')]).toEqual([[], []]);
    expect(readFileSync(`/proc/${driver.pid}/status`, 'utf8')).toMatch(/^CapEff:\s+0+$/m);
    // As user 1000, outside and inside of its namespaces; each with /proc of the container.
    const read = (target: number, name: string) =>
      run('setpriv', [
        ...[`--reuid=${UID}`, `--regid=${UID}`, '--clear-groups', 'nsenter', '--target', String(target)],
        ...[
          ...(target === driver.pid ? ['--user'] : []),
          '--preserve-credentials',
          'cat',
          `/proc/${server.pid}/${name}`,
        ],
      ]);
    expect((await read(server.pid, 'environ')).stdout).toContain('SCRAPIFIE_');
    await expect(read(driver.pid, 'environ')).rejects.toMatchObject({
      stderr: expect.stringContaining('Permission denied'),
    });
    await expect(read(driver.pid, 'maps')).rejects.toMatchObject({
      stderr: expect.stringContaining('Permission denied'),
    });
  });

  it('crawls', { timeout: LIMIT_MS }, async () => {
    const { body } = await post('/v1/crawl', {
      urls: [`${site.hostUrl(2)}/big/`],
      maxPages: 30,
      sitemap: 'skip',
    });
    await vi.waitFor(
      async () =>
        expect(await jobOf(body.data.id)).toMatchObject({ status: 'completed', progress: { pages: 30 } }),
      {
        timeout: 60_000,
      },
    );
  });

  it('drains within 30 s under load: clients get answers, or 503 with Retry-After', {
    timeout: LIMIT_MS,
  }, async () => {
    let isReady = true;
    const proxy = await startReverseProxy({ port: 0, targets: () => (isReady ? [origin] : []) });
    const watch = setInterval(async () => {
      const answer = await fetch(`${origin}/readyz`).catch(() => null);
      isReady = answer?.status === 200;
    }, 200);
    const crawl = await post('/v1/crawl', { urls: [`${site.hostUrl(30)}/big/`], sitemap: 'skip' });
    const scrape = { method: 'POST', path: '/v1/scrape' } as const;
    const load = startLoad({
      origin: proxy.origin,
      apiKey: API_KEY,
      requests: [
        ...Array.from({ length: 6 }, (_, at) => ({
          ...scrape,
          body: { url: `${site.hostUrl(3 + at)}/big/`, timeoutMs: 60_000 },
        })),
        { ...scrape, body: { url: `${site.hostUrl(20)}/big/`, engine: 'browser', timeoutMs: 60_000 } },
        { method: 'GET', path: '/v1/jobs' },
      ],
    });
    await vi.waitFor(() => expect(load.answers.length).toBeGreaterThan(100), {
      timeout: 60_000,
      interval: 20,
    });
    expect(await jobOf(crawl.body.data.id)).toMatchObject({ status: 'running' });

    const before = load.answers.length;
    const toldAt = performance.now();
    container.signal('SIGTERM');
    expect(await container.ended).toBe(0);
    const drainedMs = performance.now() - toldAt;
    await load.stop();
    clearInterval(watch);
    await proxy.close(5_000);
    expect(drainedMs).toBeLessThan(DRAIN_MS);
    expect(load.answers.length).toBeGreaterThan(before);
    const wrong = load.answers.filter(
      ({ status, retryAfter }) => status !== 200 && !(status === 503 && retryAfter !== null),
    );
    expect(wrong).toEqual([]);
    expect(container.output()).toContain('"msg":"stopped"');
    expect(container.output()).not.toMatch(/EROFS|EACCES|read-only/);
    const served = load.answers.filter(({ status }) => status === 200).length;
    console.log(
      `drained in ${Math.round(drainedMs)} ms; ${served} answers, ${load.answers.length - served} × 503 with Retry-After`,
    );
  });
});
