import { execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { QUICK_POLICY } from '../integration/world.ts';
import { type Site, startSite } from '../site/site.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const INSTALL_MS = 900_000;
const RUN_MS = 60_000;
const MOST_BYTES = 3_500_000;
/** The id of a user to whom no file belongs. */
const NOBODY = 65_534;
const KEY = 'key-of-the-package-0123456789abcdef';
/** What the package may have; a test, a fixture or a source map in it would be of no use to anyone. */
const EXPECTED =
  /^(?:scrapifie|scripts\/node\.sh|README\.md|LICENSE|package\.json|policies\/default\.yaml|(?:CHANGELOG|CONTRIBUTING|SECURITY)\.md|bench\/results\/latest\.md|docs\/.*\.(?:md|svg|png|css|js)|sdk\/\w+\/README\.md|dist\/(?!.*\.(?:test|fixture)\.).*\.(?:js|sql|d\.ts)|dashboard\/dist\/(?:index\.html|[\w-]+\.(?:js|svg)|assets\/[\w.-]+\.(?:js|css|woff2|svg|png)))$/;

const folder = mkdtempSync(join(tmpdir(), 'scrapifie-package-'));
/** Its name has spaces, as folders of users do. */
const app = join(folder, 'an app of mine');
const installed = join(app, 'node_modules/scrapifie');
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};
const run = promisify(execFile);
const PACK = join(ROOT, 'scripts/pack.ts');
/** Without what npm tells its own scripts. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
const inApp = () => ({
  cwd: app,
  env: { ...env, SCRAPIFIE_ALLOW_PRIVATE: 'true', SCRAPIFIE_POLICY_FILE: join(folder, 'policy.yaml') },
});

/** What is in the package, and how large it is. */
let packed: { readonly size: number; readonly unpackedSize: number; readonly paths: readonly string[] };
let site: Site;

beforeAll(async () => {
  site = await startSite({ pages: 30 });
  chmodSync(folder, 0o755);
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{"private": true, "type": "module"}');
  writeFileSync(join(folder, 'policy.yaml'), QUICK_POLICY);
  const made = await run(process.execPath, [PACK, folder], { cwd: ROOT, env, maxBuffer: 64_000_000 });
  const file = made.stdout.trim().split('\n').at(-1) ?? '';
  packed = await contentsOf(file);
  const install = ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  // Without DuckDB, a third of the size: nothing but SQL over the lake may need it.
  await run('npm', [...install, '--omit=optional', file], { cwd: app, env });
}, INSTALL_MS);
afterAll(async () => {
  await site.close();
  // Removing a folder with thousands of files takes long.
  rmSync(folder, { recursive: true, force: true });
}, INSTALL_MS);

async function contentsOf(file: string): Promise<typeof packed> {
  const { stdout } = await run('tar', ['--list', '--verbose', '--gzip', '--file', file]);
  const lines = stdout.trim().split('\n');
  return {
    size: statSync(file).size,
    unpackedSize: lines.reduce((sum, line) => sum + Number(line.split(/\s+/)[2]), 0),
    paths: lines.map((line) =>
      line
        .split(/\s+/)
        .slice(5)
        .join(' ')
        .replace(/^package\//, ''),
    ),
  };
}

describe('a package that npm alone makes of a clone without a build', () => {
  it.each([
    { command: 'npm pack', more: [] },
    { command: 'npm pack --ignore-scripts', more: ['--ignore-scripts'] },
  ])('$command: its command says what is wrong, by exit code 5', { timeout: RUN_MS }, async ({ more }) => {
    const bare = mkdtempSync(join(folder, 'bare-'));
    for (const name of ['package.json', '.npmrc', 'scrapifie', 'scripts', 'README.md', 'policies']) {
      cpSync(join(ROOT, name), join(bare, name), { recursive: true });
    }
    const pack = ['pack', '--json', ...more];
    const { stdout } = await run('npm', pack, { cwd: bare, env });
    const [{ filename }] = Object.values(JSON.parse(stdout)) as [{ filename: string }];
    await run('tar', ['--extract', '--gzip', '--file', filename], { cwd: bare });
    await expect(run(join(bare, 'package/scrapifie'), ['--version'], { env })).rejects.toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringContaining('This package was packed without being built.'),
    });
  });

  it('the script of the release packs nothing when what was built lacks a part', {
    timeout: INSTALL_MS,
  }, async () => {
    const bare = mkdtempSync(join(folder, 'partial-'));
    for (const name of ['package.json', '.npmrc', 'scrapifie', 'scripts', 'README.md', 'policies']) {
      cpSync(join(ROOT, name), join(bare, name), { recursive: true });
    }
    // A build that makes one file of those that the package needs.
    mkdirSync(join(bare, 'dist'));
    writeFileSync(join(bare, 'dist/main.js'), '');
    writeFileSync(join(bare, 'scripts/build.ts'), '');
    await expect(run(process.execPath, [join(bare, 'scripts/pack.ts'), bare], { env })).rejects.toMatchObject(
      {
        code: 1,
        stderr: expect.stringContaining(
          'the package would lack dashboard/dist/index.html, dist/library/index.d.ts, dist/library/index.js',
        ),
      },
    );
    expect(readdirSync(bare).filter((name) => name.endsWith('.tgz'))).toEqual([]);
  });
});

describe('the npm package', () => {
  it('has the compiled program and what it reads, and nothing else', () => {
    const { paths } = packed;
    expect(paths.filter((path) => !EXPECTED.test(path))).toEqual([]);
    expect(paths).toContain('dist/main.js');
    const statements = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.sql'),
    );
    expect(paths).toEqual(expect.arrayContaining(statements.map((path) => `dist/${path}`)));
    expect(paths).toContain('dashboard/dist/index.html');
    expect(packed.size).toBeLessThan(MOST_BYTES);
  });

  it('is as large as docs/library.md says, to a tenth', () => {
    const page = readFileSync(join(ROOT, 'docs/library.md'), 'utf8');
    const [, size, unpacked] = /It is ([\d.]+) MB \(([\d.]+) MB unpacked\)/.exec(page) ?? [];
    expect(Math.abs(Number(size) / (packed.size / 1e6) - 1)).toBeLessThan(0.1);
    expect(Math.abs(Number(unpacked) / (packed.unpackedSize / 1e6) - 1)).toBeLessThan(0.1);
  });

  it('npx runs its command', { timeout: RUN_MS }, async () => {
    const { stdout: help } = await run('npx', ['scrapifie', '--help'], inApp());
    expect(help).toContain('Usage: scrapifie');
    const args = ['scrapifie', 'scrape', `${site.url}/big/`, '--format', 'text'];
    const { stdout } = await run('npx', args, inApp());
    expect(stdout.length).toBeGreaterThan(500);
  });

  it('shows its demo, with a site that comes along', { timeout: RUN_MS }, async () => {
    const { stdout } = await run('npx', ['scrapifie', 'demo'], { ...inApp(), timeout: RUN_MS });
    expect(stdout).toContain('# Lighthouses of the North');
    expect(stdout).toMatch(/price: 24 → 19/);
  });

  it('a link to the command runs it too, as a global installation makes one', async () => {
    const link = join(folder, 'scrapifie');
    symlinkSync(join(app, 'node_modules/.bin/scrapifie'), link);
    expect((await run(link, ['--version'], { cwd: folder, env })).stdout).toBe(`${VERSION}\n`);
  });

  it('on an older Node.js says which one it needs', async () => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'node'), '#!/bin/sh\necho v20.19.4\n', { mode: 0o755 });
    const started = run(join(installed, 'scrapifie'), ['--version'], {
      env: { PATH: `${bin}:/usr/bin:/bin` },
    });
    await expect(started).rejects.toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringContaining('needs Node.js 24 or newer on PATH; found v20.19.4'),
    });
  });

  it('runs for a user who may not write to it', { timeout: RUN_MS }, async () => {
    const home = join(folder, 'home');
    mkdirSync(home);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(home, NOBODY, NOBODY);
    else {
      const closed = [installed, join(installed, 'dist')];
      for (const path of closed) chmodSync(path, 0o555);
      // So that the folder can be removed.
      onTestFinished(() => closed.forEach((path) => void chmodSync(path, 0o755)));
    }
    const before = modifiedIn(installed);
    const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
    const [command = '', ...args] = [
      ...(isRoot ? asNobody : []),
      join(app, 'node_modules/.bin/scrapifie'),
      ...['crawl', `${site.url}/big/`, '--max-pages', '3', '--out', 'crawled'],
    ];
    const PATH = `${dirname(process.execPath)}:${env.PATH}`;
    await run(command, args, { cwd: home, env: { ...inApp().env, HOME: home, TMPDIR: home, PATH } });
    expect(readFileSync(join(home, 'crawled/pages.ndjson'), 'utf8').trim().split('\n')).toHaveLength(3);
    expect(modifiedIn(installed)).toEqual(before);
  });

  it('serves: health, documentation, dashboard, and a crawl', { timeout: RUN_MS }, async () => {
    const args = ['scrapifie', 'serve', '--port', '0', '--data-dir', join(folder, 'data')];
    const { cwd, env: settings } = inApp();
    const server = spawn('npx', args, {
      cwd,
      env: { ...settings, SCRAPIFIE_API_KEY: KEY, SCRAPIFIE_LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    try {
      let output = '';
      for await (const chunk of server.stdout) {
        output += String(chunk);
        const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? [];
        if (url === undefined) continue;
        expect((await fetch(`${url}/healthz`)).status).toBe(200);
        // The documentation is made of files of the package.
        const page = await fetch(`${url}/help/quickstart`);
        expect([page.status, (await page.text()).includes('Quickstart')]).toEqual([200, true]);
        const dashboard = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
        const [script = ''] = /\/assets\/index-[\w-]+\.js/.exec(dashboard) ?? [];
        expect(await (await fetch(`${url}${script}`)).text()).not.toContain('React DevTools');
        expect(await crawledPages(url)).toBe(10);
        break;
      }
      expect(output).toContain('http://127.0.0.1:');
    } finally {
      const ended = new Promise((resolve) => server.once('close', resolve));
      // npx, the launcher and the server are one group.
      process.kill(-(server.pid ?? 0), 'SIGTERM');
      await ended;
    }
  });
});

/** The names of files and when they were written. */
const modifiedIn = (path: string): string[] =>
  readdirSync(path, { recursive: true }).map(
    (name) => `${name} ${statSync(join(path, String(name))).mtimeMs}`,
  );

/** How many pages a crawl of ten has, through the API of a server. */
async function crawledPages(url: string): Promise<number> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ urls: [`${site.url}/big/`], maxPages: 10 });
  const started = await fetch(`${url}/v1/crawl`, { method: 'POST', headers, body });
  const { data: job } = (await started.json()) as { data: { id: string } };
  // The stream of events ends with the job.
  await (await fetch(`${url}/v1/jobs/${job.id}/events`, { headers })).text();
  const listed = await fetch(`${url}/v1/jobs/${job.id}/results`, { headers });
  const { data: results } = (await listed.json()) as { data: { items: unknown[] } };
  return results.items.length;
}

const PROGRAMS = ['library', 'plugins'].flatMap((page) => {
  const text = readFileSync(join(ROOT, 'docs', `${page}.md`), 'utf8');
  const titles = text.split(/^(?=## )/m).map((part) => {
    const [, title = page] = /^## (.*)$/m.exec(part) ?? [];
    return [...part.matchAll(/```ts(?: plugin (\S+))?\n([\s\S]*?)```/g)].map(([, module, code = ''], at) => ({
      name: `docs/${page}.md, ${title}`,
      // A plug-in has the name under which a later program loads it.
      file: module ?? `${page}-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}-${at}.ts`,
      isModule: module !== undefined,
      code,
    }));
  });
  return titles.flat();
});

describe('programs of the docs, with the installed package', () => {
  const shown = (code: string) =>
    code.replaceAll('https://example.com/', `${site.url}/big/`).replaceAll(/\b100\b/g, '10');

  it('there are some', () => {
    expect(PROGRAMS.length).toBeGreaterThan(4);
  });

  it('their types fit', { timeout: RUN_MS }, async () => {
    for (const { file, code } of PROGRAMS) writeFileSync(join(app, file), shown(code));
    const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--module', 'nodenext'];
    const types = ['--target', 'esnext', '--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
    const files = PROGRAMS.map(({ file }) => file);
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const { stdout } = await run(tsc, [...options, ...types, ...files], { cwd: app, env }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });

  it('a plug-in of the docs is loaded by the command', { timeout: RUN_MS }, async () => {
    for (const { file, code, isModule } of PROGRAMS) if (isModule) writeFileSync(join(app, file), code);
    writeFileSync(join(app, 'chablis.html'), '<h1>Chablis</h1><p class="vintage">2019</p>');
    const args = ['extract', 'chablis.html', '--url', 'https://shop.example/', '--extract', 'wine:bottle'];
    const { cwd, env: settings } = inApp();
    const options = { cwd, env: { ...settings, SCRAPIFIE_PLUGINS: './wine.ts,./lab.ts,./pager.ts' } };
    const { stdout } = await run('npx', ['scrapifie', ...args], options);
    expect(JSON.parse(stdout)).toMatchObject({ extracted: { name: 'Chablis', vintage: 2019 } });
  });

  it.each(PROGRAMS.filter(({ isModule }) => !isModule))(
    '$name runs',
    { timeout: RUN_MS },
    async ({ file, code }) => {
      writeFileSync(join(app, file), shown(code));
      const { stdout, stderr } = await run(process.execPath, [file], inApp());
      expect(stderr.replace(/^.*ExperimentalWarning.*\n.*trace-warnings.*\n/m, '')).toBe('');
      expect(stdout).not.toBe('');
    },
  );
});
