import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endCommands, runCommand, temporaryFolder } from './cli-command.ts';

const PAGE = `<!doctype html><title>Hats</title><main><h1>Our hats</h1>
  <ul><li class=hat><a href="/red">Red hat</a> <b>9.50</b></li><li class=hat><a href="/blue">Blue hat</a> <b>12</b></li></ul></main>`;

const folder = temporaryFolder();
let server: Server;
let origin: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/robots.txt') response.writeHead(404).end();
    else if (request.url === '/red')
      response.setHeader('content-type', 'text/html').end('<title>Red</title><h1>Red</h1>');
    else response.setHeader('content-type', 'text/html').end(PAGE);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await endCommands();
  server.closeAllConnections();
  server.close();
  folder.remove();
});

const shell = (...lines: string[]) =>
  runCommand(['shell', `${origin}/`, '--allow-private'], {
    cwd: folder.path('.'),
    input: `${lines.join('\n')}\n`,
  });

describe('shell', () => {
  it('tries selectors, rules and formats on a page, with lines that are piped in', async () => {
    writeFileSync(folder.path('rules.yaml'), 'names: { css: .hat a, list: true }\n');
    const done = await shell(
      'css .hat b',
      'css .hat a@href',
      'xpath count(//li)',
      'rules {"title": "h1"}',
      'rules rules.yaml',
      'links blue',
      'markdown',
      '',
      'open /red',
      'quit',
      'css h1',
    );
    expect(done.stdout).toContain('9.50\n12\n(2 found)\n');
    expect(done.stdout).toContain('/red\n/blue\n(2 found)\n');
    expect(done.stdout).toContain('2\n(1 found)\n');
    expect(done.stdout).toContain('{\n  "title": "Our hats"\n}\n');
    expect(done.stdout).toContain('"names": [\n    "Red hat",\n    "Blue hat"\n  ]');
    expect(done.stdout).toContain(`${origin}/blue  Blue hat\n(1 found)\n`);
    expect(done.stdout).toContain('# Our hats');
    expect(done.stdout.split('Our hats')).toHaveLength(3);
    expect(done.stderr).toContain(`${origin}/  200`);
    expect(done.stderr).toContain('error INVALID_URL');
    expect(done.exitCode).toBe(2);
  });

  it('opens other pages, and ends with 0 when every line was right', async () => {
    const done = await shell(`open ${origin}/red`, 'css h1');
    expect(done).toMatchObject({ exitCode: 0 });
    expect(done.stdout).toMatch(/\/red {2}200 .*Red\nRed\n\(1 found\)\n$/s);
  });

  it('says what is wrong with a line and goes on', async () => {
    const done = await shell('css li[', 'xpath //', 'frobnicate', 'css', 'css h1');
    expect(done.stderr.match(/^error INVALID_USAGE: /gm)).toHaveLength(4);
    expect(done.stderr).toContain('There is no "frobnicate"');
    expect(done.stdout).toBe('Our hats\n(1 found)\n');
    expect(done.exitCode).toBe(2);
  });
});
