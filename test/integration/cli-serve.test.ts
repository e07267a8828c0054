import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PROGRAM } from '../program.ts';
import { type Site, startSite } from '../site/site.ts';
import {
  endCommands,
  type RunningCommand,
  runCommand,
  startCommand,
  temporaryFolder,
} from './cli-command.ts';

const folder = temporaryFolder();
let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: 300, log: 'counts' });
});
afterAll(async () => {
  await endCommands();
  await site.close();
  folder.remove();
});

const args = (name: string, ...more: string[]) => [
  'serve',
  '--port',
  '0',
  '--data-dir',
  folder.path(name),
  ...more,
];

interface Server {
  readonly command: RunningCommand;
  readonly origin: string;
  /** The printed command, taken apart. */
  readonly first: { readonly url: string; readonly headers: Record<string, string>; readonly body: string };
}

async function startServer(argv: readonly string[], env: Record<string, string> = {}): Promise<Server> {
  const command = startCommand(argv, { env });
  const line = await vi.waitFor(
    () => {
      const found = /^ {2}curl (.*)$/m.exec(command.stdout())?.[1];
      if (found === undefined) throw new Error('not ready');
      return found;
    },
    { timeout: 20_000, interval: 25 },
  );
  const url = /(http:\S+\/v1\/scrape)/.exec(line)?.[1] ?? '';
  const headers = [...line.matchAll(/-H ["']([^:]+): ([^"']+)["']/g)].map(([, name = '', value = '']) => [
    name,
    // The command reads the key from a file: this output is no terminal.
    value.replace(/\$\(cat '?(\S+?)'?\)/, (_, path) => readFileSync(path, 'utf8').trim()),
  ]);
  const body = /-d '([^']+)'/.exec(line)?.[1] ?? '';
  return { command, origin: new URL(url).origin, first: { url, headers: Object.fromEntries(headers), body } };
}

async function stop({ command }: Server): Promise<number | null> {
  command.child.kill('SIGTERM');
  return (await command.ended).exitCode;
}

/** `dashboard` makes a link to the running server, which signs in once. */
async function signInByLink({ command, origin }: Server): Promise<void> {
  expect(command.stdout()).toMatch(
    /^ {2}Dashboard {2}(?:http:\/\/127\.\S+ {2}\(the link in \S+\/sign-in-link signs in once|not built)/m,
  );
  expect(command.stdout()).not.toContain('#token=');
  const { stdout } = await runCommand(['dashboard', '--data-dir', folder.path('first')]);
  const link = new URL(stdout.trim());
  expect([link.origin, link.pathname]).toEqual([origin, '/sign-in']);
  const body = JSON.stringify({ token: link.hash.replace('#token=', '') });
  const statuses = [];
  for (const _ of [1, 2]) {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${origin}/dashboard/session`, { method: 'POST', headers, body });
    statuses.push(answer.status);
  }
  expect(statuses).toEqual([200, 401]);
}

describe('serve', () => {
  it('prints its addresses, a key and a first command that returns a page without a network', async () => {
    const server = await startServer(args('first'), { SCRAPIFIE_FIRECRAWL_PORT: '0' });
    expect(server.command.stdout()).toMatch(
      /^ {2}Firecrawl-compatible API at http:\/\/127\.0\.0\.1:[1-9]\d*$/m,
    );
    const { url, headers, body } = server.first;
    const keyFile = folder.path('first/api-key');
    expect(server.command.stdout()).toContain(`  API key    in ${keyFile}, which only its owner can read`);
    expect(headers.Authorization).toBe(`Bearer ${readFileSync(keyFile, 'utf8').trim()}`);
    for (const name of ['api-key', 'sign-in-link']) {
      const { mode } = statSync(folder.path(`first/${name}`), { throwIfNoEntry: name === 'api-key' }) ?? {
        mode: 0o600,
      };
      expect([name, mode & 0o777]).toEqual([name, 0o600]);
    }
    const answer = await fetch(url, { method: 'POST', headers, body });
    expect(await answer.json()).toMatchObject({
      success: true,
      data: { statusCode: 200, title: expect.any(String) },
    });
    expect((await fetch(`${server.origin}/healthz`)).status).toBe(200);
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
    const [, compatible = ''] = /Firecrawl-compatible API at (\S+)/.exec(server.command.stdout()) ?? [];
    const keptOpen = await Promise.all(
      [server.origin, compatible].map(async (origin) => (await fetch(origin)).headers.get('keep-alive')),
    );
    // Longer than the balancers of deploy/ keep a connection that is idle.
    expect(keptOpen).toEqual(['timeout=320', 'timeout=320']);
    await signInByLink(server);
    expect(await stop(server)).toBe(0);
    const { stdout, stderr } = await server.command.ended;
    expect(stdout).not.toContain('sk_');
    expect(stderr).toContain(`"file":"${keyFile}"`);
    expect(stderr).not.toContain('#token=');
    expect(stderr).toMatch(/"jobId":"[^"]+","method":"POST","route":"\/v1\/scrape","status":200/);
    expect(stderr).toContain('SCRAPIFIE_CONTACT is not set: ');
    expect(stderr).not.toContain('sk_');
  });

  it('shows the key this once, and keeps it', async () => {
    const first = await startServer(args('again'));
    await stop(first);
    const second = await startServer(args('again'), { SCRAPIFIE_CONTACT: 'mailto:me@example.com' });
    expect(second.command.stdout()).not.toContain('sk_');
    expect(second.command.stdout()).toContain('Try it, with your API key in place of YOUR_API_KEY:');
    expect(second.command.stdout()).toContain('"Authorization: Bearer YOUR_API_KEY"');
    expect(second.command.stdout()).not.toContain('$');
    const { headers, body } = first.first;
    const answer = await fetch(second.first.url, {
      method: 'POST',
      headers,
      body: body.replace(first.origin, second.origin),
    });
    expect(answer.status).toBe(200);
    expect(await stop(second)).toBe(0);
    expect((await second.command.ended).stderr).not.toContain('SCRAPIFIE_CONTACT');
  });

  it('writes the key to a file of its own, whatever has its name', async () => {
    mkdirSync(folder.path('prepared'));
    writeFileSync(folder.path('prepared/api-key'), 'old', { mode: 0o644 });
    chmodSync(folder.path('prepared/api-key'), 0o644);
    const server = await startServer(args('prepared'));
    expect(statSync(folder.path('prepared/api-key')).mode & 0o777).toBe(0o600);
    expect(readFileSync(folder.path('prepared/api-key'), 'utf8')).toMatch(/^sk_[\w-]+\n$/);
    await stop(server);
  });

  it.runIf(existsSync('/usr/bin/script'))(
    'shows the key to a terminal, and writes it to no file',
    async () => {
      const command = [process.execPath, PROGRAM, ...args('shown')].join(' ');
      // `script` gives the command a terminal.
      const child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
        env: { PATH: process.env.PATH ?? '', XDG_CONFIG_HOME: folder.path('no-settings') },
        cwd: folder.path('.'),
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      let shown = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        shown += text;
      });
      try {
        await vi.waitFor(() => expect(shown).toMatch(/API key +sk_[\w-]+ .*shown this once/), {
          timeout: 20_000,
          interval: 25,
        });
        expect(existsSync(folder.path('shown/scrapifie.db'))).toBe(true);
        for (const name of ['api-key', 'sign-in-link'])
          expect([name, existsSync(folder.path(`shown/${name}`))]).toEqual([name, false]);
      } finally {
        const ended = new Promise((resolve) => child.once('close', resolve));
        // Ctrl-C on that terminal.
        child.stdin.write('\x03');
        await ended;
      }
    },
  );

  it('never prints the key of the settings', async () => {
    const secret = 'a-secret-of-my-own-choice';
    const server = await startServer(args('settings'), { SCRAPIFIE_API_KEY: secret });
    expect(server.command.stdout()).toContain('"Authorization: Bearer $SCRAPIFIE_API_KEY"');
    const headers = { 'x-api-key': secret };
    expect((await fetch(`${server.origin}/v1/jobs`, { headers })).status).toBe(200);
    await stop(server);
    const { stdout, stderr } = await server.command.ended;
    expect(stdout + stderr).not.toContain(secret);
  });

  it('opens nothing else of this machine by its sample page', async () => {
    const server = await startServer(args('guarded'));
    const { url, headers } = server.first;
    for (const target of [`${server.origin}/healthz`, `${server.origin}/metrics`, `${site.url}/big/`]) {
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ url: target }) });
      const { success, error } = (await answer.json()) as { success: boolean; error: { code: string } };
      expect(success).toBe(false);
      expect(error.code).toMatch(/^(?:ADDRESS_REFUSED|ROBOTS_DISALLOWED)$/);
    }
    await stop(server);
  });

  it('stops cleanly in the middle of a crawl and goes on with it at the next start', async () => {
    writeFileSync(folder.path('fast.yaml'), 'default: { rate: 100, concurrency: 4 }\n');
    const argv = args('crawling', '--allow-private', '--policy-file', folder.path('fast.yaml'));
    const server = await startServer(argv);
    const { headers } = server.first;
    const body = JSON.stringify({ urls: [`${site.url}/big/`], sitemap: 'skip' });
    const made = await fetch(`${server.origin}/v1/crawl`, { method: 'POST', headers, body });
    const { data } = (await made.json()) as { data: { id: string } };
    const pagesOf = async (origin: string) => {
      const answer = await fetch(`${origin}/v1/jobs/${data.id}`, { headers });
      return ((await answer.json()) as { data: { status: string; progress: { pages: number } } }).data;
    };
    const until = (origin: string, isThere: (job: Awaited<ReturnType<typeof pagesOf>>) => boolean) =>
      vi.waitFor(
        async () => {
          if (!isThere(await pagesOf(origin))) throw new Error('not yet');
        },
        { timeout: 25_000, interval: 50 },
      );
    await until(server.origin, ({ progress }) => progress.pages > 20);
    expect(await stop(server)).toBe(0);
    const next = await startServer(argv);
    await until(next.origin, ({ status }) => status === 'completed');
    expect((await pagesOf(next.origin)).progress.pages).toBe(300);
    await stop(next);
  });
});

describe('a server that cannot start', () => {
  it.each([
    ['a port that is taken', () => ['--port', String(site.port)], 'PORT_IN_USE'],
    ['an address of another machine', () => ['--host', '203.0.113.7'], 'LISTEN_FAILED'],
    ['a folder that cannot be made', () => ['--data-dir', '/proc/scrapifie'], 'DATA_DIR_UNUSABLE'],
    ['a file in place of the folder', () => ['--data-dir', folder.path('plain')], 'DATA_DIR_UNUSABLE'],
    ['a damaged database', () => ['--data-dir', folder.path('damaged')], 'DATABASE_CORRUPT'],
    [
      'a policy file that is not there',
      () => ['--policy-file', folder.path('missing.yaml')],
      'INVALID_POLICY',
    ],
  ])('because of %s says so and ends with 5', async (_, more, code) => {
    writeFileSync(folder.path('plain'), 'plain');
    mkdirSync(folder.path('damaged'), { recursive: true });
    writeFileSync(folder.path('damaged/scrapifie.db'), 'x'.repeat(5_000));
    const { exitCode, stdout, stderr } = await runCommand(args('unstarted', ...more()));
    expect(stderr).toMatch(new RegExp(`^error ${code}: .`, 'm'));
    expect(stderr).not.toMatch(/\n\s+at /);
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
    expect(readFileSync(folder.path('damaged/scrapifie.db'), 'utf8')).toBe('x'.repeat(5_000));
    expect(readFileSync(folder.path('plain'), 'utf8')).toBe('plain');
  });

  it('because another one works in the folder says so', async () => {
    const server = await startServer(args('shared'));
    const { exitCode, stderr } = await runCommand(args('shared'));
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/^error DATA_DIR_LOCKED: /m);
    expect((await fetch(`${server.origin}/healthz`)).status).toBe(200);
    await stop(server);
  });
});
