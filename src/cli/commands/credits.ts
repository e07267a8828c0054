import { InvalidArgumentError, Option } from 'commander';
import { creditPlanSchema, grantSchema } from '../../capabilities/accounts/credit-admin.ts';
import { type CreditEntryView, type CreditsView, withAccountBackend } from '../backend/account-backend.ts';
import { MOST_LISTED } from '../backend/backend.ts';
import type { BackendFlags } from '../backend/open-backend.ts';
import { jsonLine } from '../backend/subcommands.ts';
import { wholeNumber } from '../flags/flag-values.ts';
import { given, parseFlags, withPlaceFlags } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import { type Screen, screenOf } from '../output/screen.ts';
import { details, table } from '../output/table.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface CreditFlags extends BackendFlags {
  readonly json?: true;
}
interface LimitFlags extends CreditFlags {
  readonly monthly: number;
  readonly low?: number;
}
interface GrantFlags extends CreditFlags {
  readonly reason: string;
  readonly key?: string;
}
interface EntriesFlags extends CreditFlags {
  readonly limit: number;
}

const FLAG_OF = {
  amount: 'The amount',
  reason: '--reason',
  monthlyCredits: '--monthly',
  lowCredits: '--low',
};

const EXAMPLES = `
ACCOUNT is the id of an account. With --api, the key of the operator is needed. Credits do not expire, but for the monthly
ones. See docs/credits.md.

Examples:
  scrapifie credits limit tenant-1 --monthly 10000 --low 500
  scrapifie credits grant tenant-1 2500 --reason 'invoice 4711' --key 4711
  scrapifie credits take tenant-1 100 --reason 'paid back'
  scrapifie credits lift tenant-1
  scrapifie credits show tenant-1
  scrapifie credits entries tenant-1`;

export const define: DefineCommand = (command, shell) => {
  command.addHelpText('afterAll', helpBelow(EXAMPLES));
  const print = (text: string): void => void shell.stdout.write(text);
  const add = (name: string, summary: string) => withPlaceFlags(command.command(name).description(summary));
  const show = (account: string, credits: CreditsView | null, { json }: CreditFlags) =>
    print(json ? jsonLine({ credits }) : describe(screenOf(shell), account, credits));

  add('show <account>', 'what an account may spend').action((account: string, flags: CreditFlags) =>
    withAccountBackend(shell, flags, async ({ credits }) => show(account, await credits.get(account), flags)),
  );

  for (const [verb, sign, summary] of [
    ['grant', 1, 'give credits to an account'],
    ['take', -1, 'take credits away from an account, at most its balance'],
  ] as const) {
    add(verb, summary)
      .argument('<account>')
      .argument('<amount>', 'credits', amountOf)
      .requiredOption('--reason <text>', 'what for; it stands in the entries of the account')
      .option('--key <text>', 'the same key counts once, so that the command can be repeated')
      .action((account: string, amount: number, flags: GrantFlags) =>
        withAccountBackend(shell, flags, async ({ credits }) => {
          const asked = { amount: sign * amount, reason: flags.reason };
          const request = parseFlags(grantSchema, asked, FLAG_OF);
          const entry = await credits.grant(account, request, flags.key ?? null);
          print(
            flags.json ? jsonLine(entry) : `${entry.amount} credits for ${account}: entry ${entry.id}.\n`,
          );
        }),
      );
  }

  add('limit <account>', 'pages of the account are paid with its credits from now on')
    .requiredOption('--monthly <n>', 'credits at the beginning of each month', amountOf)
    .option('--low <n>', 'below this, account.low_credits is sent', amountOf)
    .action((account: string, flags: LimitFlags) =>
      withAccountBackend(shell, flags, async ({ credits }) => {
        const plan = given({ monthlyCredits: flags.monthly, lowCredits: flags.low });
        show(account, await credits.limit(account, parseFlags(creditPlanSchema, plan, FLAG_OF)), flags);
      }),
    );

  add('lift <account>', 'no limit any more; granted credits are kept').action(
    (account: string, flags: CreditFlags) =>
      withAccountBackend(shell, flags, async ({ credits }) => {
        await credits.lift(account);
        show(account, null, flags);
      }),
  );

  add('entries <account>', 'grants, allowances and what lapsed, newest first')
    .addOption(new Option('--limit <n>', 'entries to show at most').default(20).argParser(wholeNumber))
    .action((account: string, flags: EntriesFlags) =>
      withAccountBackend(shell, flags, async ({ credits }) => {
        const entries = await credits.entries(account, Math.min(MOST_LISTED, Math.max(1, flags.limit)));
        print(flags.json ? entries.map(jsonLine).join('') : listing(screenOf(shell), entries));
      }),
    );
};

function amountOf(text: string): number {
  const amount = Number(text);
  if (text.trim() !== '' && Number.isFinite(amount) && amount >= 0) return amount;
  throw new InvalidArgumentError('A number of credits is expected, such as 2500 or 0.5.');
}

function describe(screen: Screen, account: string, credits: CreditsView | null): string {
  if (credits === null) return `Account ${account} is not limited.\n`;
  return details(screen, [
    ['available', String(credits.availableCredits)],
    ['allowance', `${credits.allowanceCredits} of ${credits.monthlyCredits}, renewed ${credits.renewsAt}`],
    ['balance', String(credits.balanceCredits)],
    ['held', String(credits.heldCredits)],
    ['low below', String(credits.lowCredits)],
  ]);
}

function listing(screen: Screen, entries: readonly CreditEntryView[]): string {
  if (entries.length === 0) return 'There are no entries.\n';
  return table(screen, [
    ['AT', 'KIND', 'AMOUNT', 'REASON'],
    ...entries.map(({ at, kind, amount, reason }) => [at, kind, String(amount), reason]),
  ]);
}
