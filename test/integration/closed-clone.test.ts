import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { treePids } from '../../src/fetch/browser/pool/process-tree.ts';
import { whyNoContainers } from '../deploy/container.ts';
import { temporaryFolder } from './cli-command.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const KEY = 'key-of-the-closed-clone-0123456789';
const LIMIT_MS = 120_000;
const PICTURE = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const why =
  whyNoContainers() ?? (existsSync('/usr/bin/chromium') ? null : 'there is no Chromium of the system');
const folder = temporaryFolder();

/** The clone below a folder that root alone may enter, as /root is. The mounts are gone with the process. */
const IN_CLOSED_FOLDER = `set -eu
mount -t tmpfs -o mode=700 tmpfs /mnt
mkdir /mnt/clone
mount --bind "$1" /mnt/clone
shift
cd /mnt/clone
exec "$@"`;

describe.skipIf(why !== null)('a clone below a folder that only root can enter', () => {
  let server: ChildProcess;
  let said = '';
  let origin = '';
  let isHeld = true;
  const waiting: (() => void)[] = [];
  const site = createServer((request, response) => {
    if (request.url === '/held.gif') {
      const answer = () => response.setHeader('content-type', 'image/gif').end(PICTURE);
      if (isHeld) waiting.push(answer);
      else answer();
      return;
    }
    response.setHeader('content-type', 'text/html');
    response.end(
      '<p></p><img src="/held.gif"><script>document.querySelector("p").append("ren" + "dered")</script>',
    );
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve));
    const rules = '{ consent: [stealth], engines: [http, browser, stealth] }';
    writeFileSync(folder.path('policy.yaml'), `default: { rate: 100 }\ndomains:\n  "127.0.0.1": ${rules}\n`);
    const command = [
      './scrapifie',
      'serve',
      '--port',
      '0',
      '--data-dir',
      folder.path('data'),
      '--allow-private',
    ];
    server = spawn('unshare', ['--mount', 'sh', '-c', IN_CLOSED_FOLDER, 'sh', ROOT, ...command], {
      env: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        HOME: '/root',
        SCRAPIFIE_API_KEY: KEY,
        SCRAPIFIE_BROWSER_PATH: '/usr/bin/chromium',
        SCRAPIFIE_POLICY_FILE: folder.path('policy.yaml'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [server.stdout, server.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
    await vi.waitFor(
      () => {
        origin = /^ +API +(http:\S+)$/m.exec(said)?.[1] ?? '';
        if (origin === '' && server.exitCode === null) throw new Error(`not ready: ${said}`);
      },
      { timeout: LIMIT_MS, interval: 100 },
    );
    expect([server.exitCode, said]).toEqual([null, expect.anything()]);
  }, LIMIT_MS);
  afterAll(async () => {
    const ended = new Promise((resolve) => server.once('close', resolve));
    if (server.kill('SIGTERM')) await ended;
    site.close();
    folder.remove();
  }, LIMIT_MS);

  const scrape = async (body: Record<string, unknown>) => {
    const { port } = site.address() as AddressInfo;
    const response = await fetch(`${origin}/v1/scrape`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: `http://127.0.0.1:${port}/`, timeoutMs: 90_000, ...body }),
    });
    return (await response.json()) as { success: boolean; data: { html: string } };
  };

  it('renders as another user, in the sandbox of the browser', { timeout: LIMIT_MS }, async () => {
    const shown = scrape({ engine: 'browser', formats: ['html'] });
    await vi.waitFor(() => expect([waiting.length, said.slice(-2_000)]).toEqual([1, expect.anything()]), {
      timeout: 90_000,
      interval: 50,
    });
    const own = server.pid ?? 0;
    const below = (await treePids(own)).filter((pid) => pid !== own);
    const browsers = below
      .map((pid) => ({ pid, ...processOf(pid) }))
      .filter(({ args }) => /chromium|render-child/.test(args));
    expect(browsers.length).toBeGreaterThan(3);
    for (const { uids, groups } of browsers) expect([...uids, ...groups]).not.toContain(0);
    // Processes of the browser have some in namespaces of their own.
    const drivers = browsers.filter(({ args }) => args.includes('render-child'));
    expect(drivers.map(({ capabilities }) => capabilities)).toEqual([0n]);
    expect(browsers.filter(({ args }) => args.includes('--no-sandbox'))).toEqual([]);
    expect(said).not.toContain('not confined');
    isHeld = false;
    for (const answer of waiting) answer();
    expect((await shown).data.html).toContain('rendered');
  });

  it.each([
    { engine: 'browser', formats: ['html', 'pdf', 'xhr'], screenshot: { fullPage: true } },
    { engine: 'stealth', formats: ['html'], screenshot: {}, actions: [{ type: 'scroll' }] },
  ])('has all that $engine needs, with $formats', { timeout: LIMIT_MS }, async (body) => {
    isHeld = false;
    expect(await scrape(body)).toMatchObject({
      success: true,
      data: { html: expect.stringContaining('rendered') },
    });
  });
});

function processOf(pid: number) {
  const read = (name: string) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, 'latin1');
    } catch {
      // The process has ended meanwhile.
      return '';
    }
  };
  const status = read('status');
  const numbers = (name: string) =>
    (new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '')
      .split(/\s+/)
      .filter((text) => text !== '')
      .map(Number);
  const capabilities = BigInt(`0x${/^CapEff:\s+(\w+)/m.exec(status)?.[1] ?? '0'}`);
  return {
    args: read('cmdline').replaceAll('\0', ' '),
    uids: numbers('Uid'),
    groups: numbers('Groups'),
    capabilities,
  };
}
