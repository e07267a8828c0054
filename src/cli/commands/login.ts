import { loginRequestSchema } from '../../capabilities/jobs/login.ts';
import type { LoginView } from '../../capabilities/views/session-view.ts';
import { EXIT } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Backend } from '../backend/backend.ts';
import { type FetcherFlags, withFetcher } from '../backend/fetcher.ts';
import { withBackend } from '../backend/open-backend.ts';
import { readActions, tellAssumedSchemes } from '../flags/command-inputs.ts';
import { FLAGS, given, parseFlags } from '../flags/flags.ts';
import { type OptionFlags, PAGE_FLAG_OF, pageFieldsOf } from '../flags/option-flags.ts';
import { helpBelow } from '../output/help.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface LoginFlags extends OptionFlags, FetcherFlags {
  readonly session: string;
  readonly credentials?: string;
  readonly actions?: string;
  readonly timeout?: number;
  readonly header?: Record<string, string>;
  readonly robots: boolean;
  readonly json?: true;
}

const FLAG_OF = {
  url: 'URL',
  timeoutMs: '--timeout',
  ...PAGE_FLAG_OF,
};

const EXAMPLES = `
Fetches the page, fills in its log-in form with the stored credentials and sends it: by plain HTTP where the form allows
that, else in a browser. --actions says by steps how to log in, for forms that are not found or not enough; {{username}}
and {{password}} in them stand for the credentials. The session keeps what the site sets, in the data folder; scrape,
crawl and servers on that folder then use it. Ends with 4 when the site still asks to log in.

Examples:
  scrapifie credentials set shop --kind login --host shop.example --username ann
  scrapifie login https://shop.example/login --session me --credentials shop
  scrapifie login https://shop.example/login --session me --credentials shop --actions steps.yaml
  scrapifie crawl https://shop.example/orders --session me`;

export const define: DefineCommand = (command, shell, endWith) => {
  command
    .argument('<url>', 'the page with the log-in form')
    .requiredOption('--session <name>', 'session that is logged in; it is made where there is none')
    .option('--credentials <name>', 'what to log in with; a session that is there has its own');
  for (const flag of [
    'actions',
    'engine',
    'waitFor',
    'waitMs',
    'waitUntil',
    'proxy',
    'proxyTier',
    'country',
    'identity',
    'header',
    'timeout',
    'allowPrivate',
    'noRobots',
    'dataDir',
    'api',
    'apiKey',
    'json',
  ] as const) {
    command.addOption(FLAGS[flag]());
  }
  command.addHelpText('afterAll', helpBelow(EXAMPLES)).action(async (url: string, flags: LoginFlags) => {
    const { scroll: _scroll, session: _session, ...pageFields } = pageFieldsOf(flags);
    const request = given({
      url,
      ...pageFields,
      actions: readActions(shell.cwd, flags.actions),
      timeoutMs: flags.timeout,
      obeyRobots: flags.robots,
    });
    parseFlags(loginRequestSchema, request, FLAG_OF);
    tellAssumedSchemes(shell, [url]);
    await withBackend(shell, flags, (backend) => prepare(backend, flags), true);
    const result = await withFetcher(shell, flags, (fetcher) => fetcher.login(flags.session, request));
    if (result === null) endWith(EXIT.interrupted);
    else shell.stdout.write(flags.json ? `${JSON.stringify(result)}\n` : describe(result));
  });
};

/** Makes the session where it is missing or has ended. Throws CONFLICT when it is there with other credentials. */
async function prepare({ sessions }: Backend, { session: name, credentials, actions }: LoginFlags) {
  const known = await sessions.get(name).catch((error: unknown) => {
    if (isScrapifieError(error) && error.code === 'NOT_FOUND') return null;
    throw error;
  });
  if (known === null && credentials === undefined && actions === undefined) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      'Say how to log in: --credentials names what "scrapifie credentials set" has stored, --actions a file of steps.',
    );
  }
  if (known === null) await sessions.create(given({ name, credentials }));
  else if (known.isExpired) {
    await sessions.delete(name);
    await sessions.create(given({ name, credentials: credentials ?? known.credentials ?? undefined }));
  } else if (credentials !== undefined && known.credentials !== credentials) {
    const has = known.credentials === null ? 'no credentials' : `the credentials "${known.credentials}"`;
    throw new ScrapifieError(
      'CONFLICT',
      `The session "${name}" was made with ${has}, and that cannot change. Delete it first, or use another name.`,
    );
  }
}

const DONE = {
  form: 'its form was sent',
  browser: 'its form was sent by a browser',
  actions: 'the actions were done',
  none: 'it did not ask',
} as const;

function describe({ method, finalUrl, session }: LoginView): string {
  const { name, cookies, storage } = session;
  const kept = `${cookies.length} cookies${storage.length === 0 ? '' : `, storage of ${storage.length} origins`}`;
  return `Session ${name} is logged in at ${finalUrl}: ${DONE[method]}. It keeps ${kept} until ${session.expiresAt}.\n`;
}
