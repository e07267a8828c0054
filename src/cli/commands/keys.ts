import { InvalidArgumentError, Option } from 'commander';
import { LAST_EXPIRY, MOST_RATE_PER_MINUTE } from '../../capabilities/accounts/api-key.ts';
import { SCOPES } from '../../capabilities/accounts/scopes.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { KeyScope } from '../../core/ports/key-store.ts';
import {
  type AccountBackend,
  type KeyView,
  type NewKeyView,
  withAccountBackend,
} from '../backend/account-backend.ts';
import type { BackendFlags } from '../backend/open-backend.ts';
import { duration, listOf, wholeNumber } from '../flags/flag-values.ts';
import { withPlaceFlags } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import { outputWritten, type Screen, screenOf } from '../output/screen.ts';
import { table } from '../output/table.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface KeysFlags extends BackendFlags {
  readonly json?: true;
  readonly account?: string;
}
interface CreateFlags extends KeysFlags {
  readonly scope?: KeyScope[];
  readonly expires?: number;
  readonly rate?: number;
}
interface RotateFlags extends KeysFlags {
  readonly overlap: number;
}

const DEFAULT_SCOPES: readonly KeyScope[] = ['read', 'write'];
const OVERLAP_MS = 3_600_000;

function lifetime(text: string): number {
  const ms = duration(text);
  if (Date.now() + ms > LAST_EXPIRY) throw new InvalidArgumentError('A key can last until the year 9999.');
  return ms;
}

/** At least 1: a rate of 0 would refuse every request of the key. */
function requestRate(text: string): number {
  const perMinute = wholeNumber(text);
  if (perMinute >= 1 && perMinute <= MOST_RATE_PER_MINUTE) return perMinute;
  throw new InvalidArgumentError(`It must be between 1 and ${MOST_RATE_PER_MINUTE}.`);
}

const EXAMPLES = `
A secret is printed once, when its key is made or rotated; only its hash is kept. A running server knows a new key at once
and forgets a revoked one within seconds.

Examples:
  scrapifie keys create 'nightly crawl' --scope jobs:read,jobs:write --expires 90d
  scrapifie keys list
  scrapifie keys rotate 3f0c… --overlap 1d
  scrapifie keys revoke 3f0c…`;

export const define: DefineCommand = (command, shell) => {
  command.addHelpText('afterAll', helpBelow(EXAMPLES));
  const print = (text: string): void => void shell.stdout.write(text);
  const add = (name: string, summary: string) =>
    withPlaceFlags(command.command(name).description(summary)).addOption(
      new Option('--account <id>', 'of another account; with --api, only for the operator'),
    );

  add('list', 'all keys, revoked ones too').action((flags: KeysFlags) =>
    withAccountBackend(shell, flags, async ({ keys }) => {
      const views = await keys.list(flags.account);
      print(
        flags.json
          ? views.map((view) => `${JSON.stringify(view)}\n`).join('')
          : listing(screenOf(shell), views),
      );
    }),
  );

  add('create <name>', 'make a key and print its secret')
    .addOption(
      new Option('--scope <names>', `${SCOPES.join(', ')}; read and write when left out`).argParser(
        listOf(SCOPES),
      ),
    )
    .addOption(new Option('--expires <time>', 'when it stops working, e.g. 90d').argParser(lifetime))
    .addOption(new Option('--rate <n>', 'requests per minute').argParser(requestRate))
    .action((name: string, flags: CreateFlags) =>
      withAccountBackend(shell, flags, async (backend) => {
        const scopes = [...new Set(flags.scope ?? DEFAULT_SCOPES)];
        const at = Date.now();
        const expiresAt = flags.expires === undefined ? null : at + flags.expires;
        const options = { name, scopes, ratePerMinute: flags.rate ?? null, expiresAt };
        const made = await backend.keys.create(options, at, flags.account);
        await show(shell, flags, made, backend);
      }),
    );

  add('rotate <id>', 'give a key another secret and print it')
    .addOption(
      new Option('--overlap <time>', 'how long the secret of now goes on; 0 ends all earlier ones at once')
        .default(OVERLAP_MS, '1h')
        .argParser(duration),
    )
    .action((id: string, flags: RotateFlags) =>
      withAccountBackend(shell, flags, async ({ keys }) => {
        const made = await keys.rotate(id, Math.ceil(flags.overlap / 1_000), flags.account);
        await show(shell, flags, made, null);
      }),
    );

  add('revoke <id>', 'take a key out of use').action((id: string, flags: KeysFlags) =>
    withAccountBackend(shell, flags, async ({ keys }) => {
      await keys.revoke(id, flags.account);
      print(flags.json ? `${JSON.stringify({ id, revoked: true })}\n` : `Key ${id} is revoked.\n`);
      if ((await keys.hasAdmin(flags.account)) === false) {
        shell.stderr.write('No key with the scope admin is left; keys create makes one.\n');
      }
    }),
  );
};

/** Prints the secret. A new key whose secret could not be printed is of no use, and revoked again. */
async function show(
  shell: Shell,
  flags: KeysFlags,
  key: NewKeyView,
  isNewIn: AccountBackend | null,
): Promise<void> {
  shell.stdout.write(flags.json ? `${JSON.stringify(key)}\n` : `${key.secret}\n`);
  await outputWritten(shell.stdout).catch(async (error: ScrapifieError) => {
    if (isNewIn === null) {
      const told = `${error.message} The secret was not shown; rotate the key ${key.id} again, earlier secrets go on.`;
      throw new ScrapifieError(error.code, told, { cause: error });
    }
    await isNewIn.keys.revoke(key.id, flags.account);
    const told = `${error.message} The secret was not shown, so that the key ${key.id} is revoked again.`;
    throw new ScrapifieError(error.code, told, { cause: error });
  });
  if (!flags.json) shell.stderr.write(`Key ${key.id}. The secret is not shown again.\n`);
}

function listing(screen: Screen, keys: readonly KeyView[]): string {
  if (keys.length === 0) return 'There are no keys; the first start of the server makes one.\n';
  const now = Date.now();
  const stateOf = ({ revokedAt, expiresAt }: KeyView) =>
    revokedAt !== null ? 'revoked' : expiresAt === null || Date.parse(expiresAt) > now ? 'usable' : 'expired';
  return table(screen, [
    ['ID', 'SECRET', 'SCOPES', 'STATE', 'CREATED', 'LAST USED', 'NAME'],
    ...keys.map((key) => [
      key.id,
      `${key.prefix}…`,
      key.scopes.join(','),
      stateOf(key),
      key.createdAt ?? '',
      key.lastUsedAt ?? 'never',
      key.name,
    ]),
  ]);
}
