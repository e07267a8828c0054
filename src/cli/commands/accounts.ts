import { Option } from 'commander';
import {
  accountChangeSchema,
  type LimitChanges,
  newAccountSchema,
} from '../../capabilities/accounts/accounts.ts';
import { type AccountView, type UsedAccountView, withAccountBackend } from '../backend/account-backend.ts';
import type { BackendFlags } from '../backend/open-backend.ts';
import { jsonLine } from '../backend/subcommands.ts';
import { limitValue } from '../flags/flag-values.ts';
import { given, parseFlags, withPlaceFlags } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import { type Screen, screenOf } from '../output/screen.ts';
import { table } from '../output/table.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface AccountFlags extends BackendFlags {
  readonly json?: true;
}
interface TermFlags extends AccountFlags {
  readonly name?: string;
  readonly plan?: string;
  readonly requestsPerMinute?: number | 'none';
  readonly concurrentPages?: number | 'none';
  readonly openUrls?: number | 'none';
  readonly storedBytes?: number | 'none';
}
interface DeleteFlags extends AccountFlags {
  readonly confirm: string;
}
interface CreateFlags extends TermFlags {
  readonly id?: string;
}

const FLAG_OF = {
  id: '--id',
  name: 'The name',
  plan: '--plan',
  'limits.requestsPerMinute': '--requests-per-minute',
  'limits.concurrentPages': '--concurrent-pages',
  'limits.openUrls': '--open-urls',
  'limits.storedBytes': '--stored-bytes',
};

const EXAMPLES = `
An installation has one account, "default", without limits. Others see nothing of each other, and each has keys of its own
(scrapifie keys --account). With --api, the key of the operator is needed. See docs/accounts.md.

Examples:
  scrapifie accounts create 'Tenant 1' --id tenant-1 --requests-per-minute 600 --concurrent-pages 8
  scrapifie accounts list
  scrapifie accounts show tenant-1
  scrapifie accounts set tenant-1 --open-urls 10000 --stored-bytes none
  scrapifie accounts disable tenant-1
  scrapifie accounts enable tenant-1
  scrapifie accounts delete tenant-1 --confirm 'Tenant 1'`;

export const define: DefineCommand = (command, shell) => {
  command.addHelpText('afterAll', helpBelow(EXAMPLES));
  const print = (text: string): void => void shell.stdout.write(text);
  const add = (name: string, summary: string) => withPlaceFlags(command.command(name).description(summary));
  const addTerms = (name: string, summary: string) =>
    add(name, summary)
      .addOption(new Option('--plan <name>', 'a plan of SCRAPIFIE_PLANS, or custom'))
      .addOption(limitOption('requests-per-minute', 'requests to the API, over all keys'))
      .addOption(limitOption('concurrent-pages', 'pages fetched at the same time'))
      .addOption(limitOption('open-urls', 'URLs that have not ended'))
      .addOption(limitOption('stored-bytes', 'bytes of stored bodies'));

  add('list', 'all accounts').action((flags: AccountFlags) =>
    withAccountBackend(shell, flags, async ({ accounts }) => {
      const views = await accounts.list();
      print(flags.json ? views.map(jsonLine).join('') : listing(screenOf(shell), views));
    }),
  );

  addTerms('create <name>', 'make an account and print the secret of its first key')
    .addOption(new Option('--id <id>', 'what the account is called by; left out, one is made'))
    .action((name: string, flags: CreateFlags) =>
      withAccountBackend(shell, flags, async ({ accounts }) => {
        const request = given({ id: flags.id, name, plan: flags.plan, limits: limitsOf(flags) });
        const made = await accounts.create(parseFlags(newAccountSchema, request, FLAG_OF));
        print(flags.json ? jsonLine(made) : `${made.key.secret}\n`);
        if (flags.json) return;
        const { account, key } = made;
        shell.stderr.write(`Account ${account.id} with key ${key.id}. The secret is not shown again.\n`);
      }),
    );

  add('show <id>', 'one account, and what it uses of its limits').action((id: string, flags: AccountFlags) =>
    withAccountBackend(shell, flags, async ({ accounts }) => {
      const view = await accounts.get(id);
      print(flags.json ? jsonLine(view) : describe(screenOf(shell), view));
    }),
  );

  addTerms('set <id>', 'change name, plan or limits; what is left out stays')
    .addOption(new Option('--name <name>', 'another name'))
    .action((id: string, flags: TermFlags) =>
      withAccountBackend(shell, flags, async ({ accounts }) => {
        const { name, plan } = flags;
        const changes = given({ name, plan, limits: limitsOf(flags) });
        await accounts.change(id, parseFlags(accountChangeSchema, changes, FLAG_OF));
        const view = await accounts.get(id);
        print(flags.json ? jsonLine(view) : describe(screenOf(shell), view));
      }),
    );

  for (const action of ['disable', 'enable'] as const) {
    const summary =
      action === 'disable'
        ? 'refuse its keys and let its jobs stand still'
        : 'accept its keys again; its jobs go on';
    add(`${action} <id>`, summary).action((id: string, flags: AccountFlags) =>
      withAccountBackend(shell, flags, async ({ accounts }) => {
        const view = await accounts[action](id);
        print(flags.json ? jsonLine(view) : `Account ${id} is ${action}d.\n`);
      }),
    );
  }

  add('delete <id>', 'delete an account with everything of it; this cannot be undone')
    .requiredOption('--confirm <name>', 'the name of the account')
    .action((id: string, flags: DeleteFlags) =>
      withAccountBackend(shell, flags, async ({ accounts }) => {
        const jobs = await accounts.delete(id, flags.confirm);
        const rest =
          jobs === 0
            ? 'Stored bodies go with the next cleanup.'
            : `${jobs} jobs are being deleted in the background.`;
        print(flags.json ? jsonLine({ id, jobs }) : `Account ${id} is deleted. ${rest}\n`);
      }),
    );
};

const limitOption = (name: string, what: string) =>
  new Option(`--${name} <n>`, `limit of ${what}; none lifts it`).argParser(limitValue);

function limitsOf(flags: TermFlags): LimitChanges | undefined {
  const { requestsPerMinute, concurrentPages, openUrls, storedBytes } = flags;
  const limits = Object.entries(given({ requestsPerMinute, concurrentPages, openUrls, storedBytes }));
  if (limits.length === 0) return undefined;
  return Object.fromEntries(limits.map(([name, limit]) => [name, limit === 'none' ? null : limit]));
}

const stateOf = ({ disabledAt }: AccountView) =>
  disabledAt === null ? 'in use' : `disabled since ${disabledAt}`;

function listing(screen: Screen, views: readonly AccountView[]): string {
  const header = ['ID', 'PLAN', 'STATE', 'CREATED', 'NAME'];
  return table(screen, [
    header,
    ...views.map((view) => [view.id, view.plan, stateOf(view), view.createdAt, view.name]),
  ]);
}

function describe(screen: Screen, view: UsedAccountView): string {
  const { limits, used } = view;
  const shown = (limit: number | null) => (limit === null ? 'none' : String(limit));
  return [
    `${view.id}: ${view.name}`,
    `plan ${view.plan}, ${stateOf(view)}`,
    '',
    table(screen, [
      ['LIMIT', 'USED', 'AT MOST'],
      ['requests per minute', '', shown(limits.requestsPerMinute)],
      ['concurrent pages', String(used.concurrentPages), shown(limits.concurrentPages)],
      ['open URLs', String(used.openUrls), shown(limits.openUrls)],
      ['stored bytes', String(used.storedBytes), shown(limits.storedBytes)],
    ]),
  ].join('\n');
}
