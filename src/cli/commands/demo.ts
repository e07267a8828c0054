import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '../../core/errors/guarded.ts';
import { EXIT } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { shopPages } from '../../http/routes/sample.ts';
import { helpBelow } from '../output/help.ts';
import { screenOf } from '../output/screen.ts';
import { cutText } from '../output/table.ts';
import { watchInterrupts } from '../shell/interrupt.ts';
import type { DefineCommand, RunCommand, Shell } from '../shell/shell.ts';

const EXAMPLES = `
Serves a small shop on this machine, shows what the commands do with it, and removes everything again. It needs no network
and less than a minute, and leaves your folders and settings alone.

Examples:
  scrapifie demo`;

const FOLDER = 'shop';
/** Fast enough for a demo, slow enough to see the progress. */
const RATE = '8';

const ROBOTS = 'User-agent: *\nDisallow: /staff/\n';

export const define: DefineCommand = (command, shell, endWith, run) => {
  command.addHelpText('afterAll', helpBelow(EXAMPLES)).action(async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'scrapifie-demo-'));
    const clean = (): void => rmSync(cwd, { recursive: true, force: true });
    const interrupts = watchInterrupts(clean);
    try {
      const site = await startDemoSite();
      try {
        await play(inFolder(shell, cwd), site, run, interrupts.signal);
      } finally {
        await site.close();
      }
    } finally {
      interrupts.close();
      clean();
    }
    if (interrupts.signal.aborted) endWith(EXIT.interrupted);
    else
      shell.stderr.write(
        '\nThat was all; the files of the demo are removed. Now yours: scrapifie scrape URL\n',
      );
  });
};

/** This terminal in another folder, without the settings of the user, which may name a server or a database. */
function inFolder(shell: Shell, cwd: string): Shell {
  const others = Object.entries(shell.environment).filter(([name]) => !name.startsWith('SCRAPIFIE_'));
  return { ...shell, cwd, environment: Object.fromEntries(others) };
}

/** An argument as it is typed: quoted where a shell would take `*` for a pattern of file names. */
const inShell = (argument: string): string => (argument.includes('*') ? `'${argument}'` : argument);

/** Runs one command after the other, until the end or Ctrl-C. */
async function play(shell: Shell, site: DemoSite, run: RunCommand, signal: AbortSignal): Promise<void> {
  const { paint } = screenOf(shell, 'stderr');
  const { origin } = site;
  const say = (text: string): void => void shell.stderr.write(`\n${text}\n`);
  const step = async (title: string, argv: readonly string[], expected: number = EXIT.ok): Promise<void> => {
    if (signal.aborted) return;
    say(`${paint('bold', title)}\n${paint('cyan', `$ scrapifie ${argv.map(inShell).join(' ')}`)}`);
    const exitCode = await run(argv, shell);
    if (exitCode === expected || signal.aborted) return;
    throw new ScrapifieError(
      'INTERNAL',
      `A command of the demo ended with ${exitCode} instead of ${expected}.`,
    );
  };
  const crawl = ['crawl', `${origin}/`, '--allow-private', '--rate', RATE, '--out', FOLDER];
  const kept = ['--snapshots', '--search', '--extract', 'auto'];
  const stored = ['--data-dir', FOLDER];
  const lighthouses = `${origin}/books/lighthouses-of-the-north`;

  say(`A shop with a dozen books is at ${origin} for the next minute.`);
  await step('One page, as Markdown.', ['scrape', lighthouses, '--allow-private', '--format', 'markdown']);
  await step('The whole shop, into a folder. What is kept can be searched and compared.', [
    ...crawl,
    ...kept,
  ]);
  if (signal.aborted) return;
  const { jobId } = JSON.parse(await readFile(join(shell.cwd, FOLDER, 'report.json'), 'utf8')) as {
    jobId: string;
  };
  await step('Every page as a row, for a spreadsheet; or as Parquet, Excel, JSON …', [
    ...['export', 'latest', ...stored, '--type', 'full', '--format', 'csv', '--out', 'shop.csv'],
  ]);
  if (!signal.aborted) await showStart(shell, 'shop.csv');
  await step('Full-text search over what was stored.', ['search', 'lighthouse*', ...stored]);
  await step('Why a page is not there.', ['why', `${origin}/staff/orders`, ...stored]);
  await step('Why a page is there: each attempt, with engine, reason and cost.', [
    'why',
    lighthouses,
    ...stored,
  ]);
  site.change();
  say('The shop changes: a price falls, one book comes, one is gone.');
  await step('The same crawl again; pages are asked for only if they changed.', [
    ...crawl,
    ...kept,
    '--if-modified',
  ]);
  await step('What is different.', ['diff', jobId, 'latest', ...stored], EXIT.changed);
  await step('Both crawls.', ['jobs', 'list', ...stored]);
}

const SHOWN_LINES = 4;

/** The first lines of a file, each as long as the terminal is wide. */
async function showStart(shell: Shell, file: string): Promise<void> {
  const lines = (await readFile(join(shell.cwd, file), 'utf8')).split('\n');
  const shown = lines
    .slice(0, SHOWN_LINES)
    .map((line) => cutText(line.trimEnd(), screenOf(shell).columns ?? 120));
  shell.stdout.write(`${shown.join('\n')}\n`);
}

/** A small shop on this machine, for the demo: it needs no network, and changes when it is told to. */
interface DemoSite {
  /** Origin of the site, without a slash at its end. */
  readonly origin: string;
  /** From now on a price is lower, a book is new, and one is sold out and gone. */
  change(): void;
  close(): Promise<void>;
}

async function startDemoSite(): Promise<DemoSite> {
  let pages = shopPages();
  const server = createServer();
  listen(server, 'request', (request: IncomingMessage, response: ServerResponse) =>
    answer(request, response, pages),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    change() {
      pages = shopPages({ hasChanged: true });
    },
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  pages: ReadonlyMap<string, string>,
): void {
  const path = URL.parse(request.url ?? '/', 'http://shop')?.pathname ?? '/';
  if (path === '/shipping') {
    response.writeHead(301, { location: '/about' }).end();
    return;
  }
  const body = path === '/robots.txt' ? ROBOTS : pages.get(path);
  const isText = path.endsWith('.txt');
  const etag = `"${createHash('sha1')
    .update(body ?? '')
    .digest('hex')}"`;
  const headers = { 'content-type': isText ? 'text/plain' : 'text/html; charset=utf-8', etag };
  if (body === undefined) response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
  else if (request.headers['if-none-match'] === etag) response.writeHead(304, headers).end();
  else response.writeHead(200, headers).end(body);
}
