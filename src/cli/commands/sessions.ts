import { Option } from 'commander';
import { sessionEntryView, sessionView } from '../../api/views/session-view.ts';
import { readVaultKeys } from '../../config/vault-keys.ts';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { AccountId } from '../../model/ids.ts';
import type { SessionWish } from '../../ports/session-store.ts';
import type { AccountStore } from '../../ports/store.ts';
import { createSessions, type Sessions } from '../../sessions/sessions.ts';
import { createVault } from '../../sessions/vault.ts';
import { FLAGS, readSettings, wholeNumber } from '../flags/flags.ts';
import { dataPlaceOf, openExisting } from '../folders/data-folder.ts';
import { table } from '../output/table.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface SessionsFlags {
  readonly dataDir?: string;
  readonly json?: true;
}
interface ListFlags extends SessionsFlags {
  readonly limit: number;
}

const ACTOR = 'command line';
const MOST_SHOWN = 1_000;

const EXAMPLES = `
A session keeps cookies, storage, proxy and identity from page to page. One is made by the first request that names
it, or by the API. Cookie values and stored data are never shown.

Examples:
  scrapifie sessions list
  scrapifie sessions show shop
  scrapifie sessions delete shop`;

export const define: DefineCommand = (command, shell) => {
  const print = (text: string): void => void shell.stdout.write(text);
  const add = (name: string, summary: string) =>
    command.command(name).description(summary).addOption(FLAGS.dataDir()).addOption(FLAGS.json());
  command.addHelpText('after', EXAMPLES);

  add('list', 'newest first, ended ones too')
    .addOption(new Option('--limit <n>', 'sessions to show at most').default(20).argParser(wholeNumber))
    .action((flags: ListFlags) =>
      withSessions(shell, flags, async ({ sessions, account }) => {
        const limit = Math.min(MOST_SHOWN, Math.max(1, flags.limit));
        const { items } = await sessions.list({ accountId: account, limit });
        const views = items.map((entry) => sessionEntryView(entry, Date.now()));
        print(flags.json ? views.map(jsonLine).join('') : listing(views));
      }),
    );
  add('show <name>', 'one session in full').action((name: string, flags: SessionsFlags) =>
    withSessions(shell, flags, async ({ sessions, account }) => {
      const view = sessionView(await sessions.get(account, name), Date.now());
      print(flags.json ? jsonLine(view) : describe(view));
    }),
  );
  add('delete <name>', 'forget a session and all it keeps').action((name: string, flags: SessionsFlags) =>
    withSessions(shell, flags, async ({ sessions, account, store }) => {
      if (!(await sessions.delete(account, name))) {
        throw new ScrapifieError('NOT_FOUND', `There is no session "${name}".`);
      }
      const at = Date.now();
      await store.audit([{ at, actor: ACTOR, action: 'session.delete', target: name, details: {} }]);
      print(flags.json ? jsonLine({ name, deleted: true }) : `Session ${name} is deleted.\n`);
    }),
  );
};

interface Local {
  readonly sessions: Sessions;
  readonly account: AccountId;
  readonly store: AccountStore;
}

async function withSessions(
  shell: Shell,
  { dataDir }: SessionsFlags,
  action: (local: Local) => Promise<void>,
) {
  const settings = readSettings(shell);
  const { store, close } = await openExisting(shell, dataDir);
  try {
    const { vaultKey, vaultOldKeys } = readVaultKeys({ ...settings, ...dataPlaceOf(shell, dataDir) });
    const vault = createVault(vaultKey, vaultOldKeys);
    const sessions = createSessions({ store, vault, now: Date.now, hours: settings.sessionHours });
    await action({ sessions, account: await store.defaultAccount(), store });
  } finally {
    await close();
  }
}

const jsonLine = (value: unknown) => `${JSON.stringify(value)}\n`;

function listing(views: readonly ReturnType<typeof sessionEntryView>[]): string {
  if (views.length === 0) return 'There are no sessions.\n';
  return table([
    ['NAME', 'STATE', 'REQUESTS', 'CREATED', 'ENDS', 'LAST USED'],
    ...views.map(({ name, isExpired, requestCount, createdAt, expiresAt, lastUsedAt }) => [
      name,
      isExpired ? 'ended' : 'usable',
      String(requestCount),
      createdAt,
      expiresAt,
      lastUsedAt ?? 'never',
    ]),
  ]);
}

function describe(view: ReturnType<typeof sessionView>): string {
  const { usedProxy, proxy, dropped } = view;
  return table([
    ['name', view.name],
    ['state', view.isExpired ? 'ended' : 'usable'],
    ['requests', String(view.requestCount)],
    ['created', view.createdAt],
    ['ends', view.expiresAt],
    ['last used', view.lastUsedAt ?? 'never'],
    ['credentials', view.credentials ?? '–'],
    ['identity', view.userAgent ?? view.identity ?? '–'],
    ['proxy', usedProxy?.id ?? wishedProxy(proxy)],
    ...view.cookies.map(({ name, domain }) => ['cookie', `${name} (${domain})`]),
    ...view.storage.map(({ origin, items }) => ['storage', `${origin}: ${items}`]),
    ['left out', `${dropped.cookies} cookies, storage of ${dropped.origins} origins`],
  ]);
}

const wishedProxy = (proxy: SessionWish['proxy']) =>
  [proxy?.tier, proxy?.country].filter((part) => part != null).join(' ') || '–';
