import { spawn } from 'node:child_process';
import { InvalidArgumentError, Option } from 'commander';
import { makeSignInLink } from '../../capabilities/accounts/sign-ins.ts';
import { listenOnce } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AuditStore } from '../../core/ports/audit-store.ts';
import { FLAGS, readSettings } from '../flags/flags.ts';
import { openExisting } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface DashboardFlags {
  readonly dataDir?: string;
  readonly url?: string;
  readonly open?: true;
  readonly json?: true;
}

const EXAMPLES = `
The link signs one browser in, once, within an hour, as the owner of the installation. It is made in the data folder or
database of the server, so that it needs no API key. Its address is --url, else SCRAPIFIE_PUBLIC_URL, else the one that
the server was last started with.

Examples:
  scrapifie dashboard
  scrapifie dashboard --open
  scrapifie dashboard --data-dir /var/lib/scrapifie --url https://scrape.example.com`;

const ANSWER_MS = 5_000;

export const define: DefineCommand = (command, shell) => {
  command
    .addOption(FLAGS.dataDir())
    .addOption(new Option('--url <address>', 'address of the server').argParser(serverAddress))
    .option('--open', 'open the link in the browser')
    .addOption(FLAGS.json())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (flags: DashboardFlags) => {
      const link = await makeLink(shell, flags);
      shell.stdout.write(flags.json ? `${JSON.stringify({ url: link })}\n` : `${link}\n`);
      if (flags.open) await openBrowser(link);
    });
};

function serverAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.origin;
  throw new InvalidArgumentError('It must be an address such as https://scrape.example.com.');
}

async function makeLink(shell: Shell, { dataDir, url }: DashboardFlags): Promise<string> {
  const settings = readSettings(shell);
  const { store, close } = await openExisting(shell, dataDir);
  try {
    const origin = url ?? settings.publicUrl ?? (await lastOrigin(store));
    await requireDashboard(origin);
    return await makeSignInLink(store, await store.defaultAccount(), origin);
  } finally {
    await close();
  }
}

/** The address of the server that was started last, by the audit log. */
async function lastOrigin(store: Pick<AuditStore, 'listAudit'>): Promise<string> {
  const { items } = await store.listAudit({ action: 'server.start', limit: 100 });
  const started = items.find(({ target }) => /^(?:all|api)@/.test(target));
  const origin = started?.details.origin;
  if (typeof origin === 'string') return origin;
  throw new ScrapifieError(
    'API_UNREACHABLE',
    'No server was started with this data folder yet. Start one with `scrapifie serve`, or name its address with --url.',
  );
}

/** A link for a server that does not run, or has no dashboard, would be of no use. */
async function requireDashboard(origin: string): Promise<void> {
  const address = new URL('/dashboard/session', origin);
  const answer = await fetch(address, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'error' }).catch(
    (error: unknown) => {
      throw new ScrapifieError(
        'API_UNREACHABLE',
        `No server answers at ${origin}. Start it with \`scrapifie serve\`, or name another address with --url.`,
        { cause: error },
      );
    },
  );
  await answer.body?.cancel();
  if (answer.ok) return;
  throw new ScrapifieError(
    'API_UNREACHABLE',
    `What answers at ${origin} has no dashboard (status ${answer.status}); is it switched off by SCRAPIFIE_DASHBOARD?`,
  );
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: 'open', linux: 'xdg-open' };

/** Resolves when the browser has the link. */
async function openBrowser(link: string): Promise<void> {
  const program = OPENERS[process.platform];
  if (program === undefined) {
    throw new ScrapifieError('INVALID_USAGE', '--open works on Linux and macOS; open the printed link.');
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const child = spawn(program, [link], { stdio: 'ignore' });
  child.once('error', reject);
  listenOnce(child, 'exit', (code) =>
    code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}.`)),
  );
  await promise.catch((error: unknown) => {
    throw new ScrapifieError('INVALID_USAGE', `${program} could not open the link; open it by hand.`, {
      cause: error,
    });
  });
}
