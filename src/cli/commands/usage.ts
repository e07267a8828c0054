import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { UsageView } from '../../capabilities/views/account-view.ts';
import { USAGE_GROUPS, type UsageGroup } from '../../core/ports/credit-store.ts';
import { MOST_LISTED } from '../backend/backend.ts';
import { type BackendFlags, withBackend } from '../backend/open-backend.ts';
import { wholeNumber } from '../flags/flag-values.ts';
import { withPlaceFlags } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import { type Screen, screenOf } from '../output/screen.ts';
import { table } from '../output/table.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface UsageFlags extends BackendFlags {
  readonly json?: true;
  readonly by: UsageGroup;
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
}

const EXAMPLES = `
Days are those of UTC; left out, the last 30 are meant.

Examples:
  scrapifie usage
  scrapifie usage --by host --from 2026-01-01 --to 2026-01-31
  scrapifie usage --by key --json --api https://scrapifie.example`;

export const define: DefineCommand = (command, shell) => {
  withPlaceFlags(command)
    .addOption(new Option('--by <what>', 'one line for each').choices([...USAGE_GROUPS]).default('day'))
    .option('--from <date>', 'first day, such as 2026-01-01', date)
    .option('--to <date>', 'last day', date)
    .addOption(new Option('--limit <n>', 'lines to show at most').default(MOST_LISTED).argParser(wholeNumber))
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .option('--account <id>', 'of another account; with --api, only for the operator')
    .action(({ account, ...flags }: UsageFlags) =>
      withBackend(shell, flags, async ({ usage }) => {
        const { by, from, to } = flags;
        const limit = Math.min(MOST_LISTED, Math.max(1, flags.limit));
        const sums = await usage.list({ account, by, from, to, limit });
        const lines = flags.json
          ? sums.map((sum) => `${JSON.stringify(sum)}\n`).join('')
          : listing(screenOf(shell), by, sums);
        shell.stdout.write(lines);
      }),
    );
};

function date(text: string): string {
  if (z.iso.date().safeParse(text).success) return text;
  throw new InvalidArgumentError('A date such as 2026-01-31 is expected.');
}

function listing(screen: Screen, by: UsageGroup, sums: readonly UsageView[]): string {
  if (sums.length === 0) return 'Nothing was used on these days.\n';
  return table(screen, [
    [by.toUpperCase(), 'PAGES', 'ATTEMPTS', 'BYTES', 'BROWSER MS', 'PROXY BYTES', 'TOKENS', 'CREDITS'],
    ...sums.map(({ value, pages, attempts, bytes, browserMs, proxyBytes, tokens, credits }) => [
      value === '' ? '(none)' : value,
      ...[pages, attempts, bytes, browserMs, proxyBytes, tokens, credits].map(String),
    ]),
  ]);
}
