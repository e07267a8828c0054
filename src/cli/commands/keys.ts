import { InvalidArgumentError, Option } from 'commander';
import { isUsable, LAST_EXPIRY, newKey, newSecret } from '../../api/access/api-key.ts';
import { SCOPES } from '../../api/access/scopes.ts';
import { keyView } from '../../api/routes/keys.ts';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { KeyId } from '../../model/ids.ts';
import type { ApiKey, KeyScope } from '../../ports/api-key.ts';
import { duration, FLAGS, listOf, wholeNumber } from '../flags/flags.ts';
import { dataPlaceOf } from '../folders/data-folder.ts';
import { outputWritten } from '../output/standard-output.ts';
import { table } from '../output/table.ts';
import type { DefineCommand, OpenStorage, Shell } from '../shell/shell.ts';

interface KeysFlags {
  readonly dataDir?: string;
  readonly json?: true;
}
interface CreateFlags extends KeysFlags {
  readonly scope?: KeyScope[];
  readonly expires?: number;
  readonly rate?: number;
}

const DEFAULT_SCOPES: readonly KeyScope[] = ['read', 'write'];
const ACTOR = 'command line';

function lifetime(text: string): number {
  const ms = duration(text);
  if (Date.now() + ms > LAST_EXPIRY) throw new InvalidArgumentError('A key can last until the year 9999.');
  return ms;
}

const EXAMPLES = `
A secret is printed once, when its key is made; only its hash is kept. A running server knows a new key at once and
forgets a revoked one within seconds.

Examples:
  scrapifie keys create 'nightly crawl' --scope jobs:read,jobs:write --expires 90d
  scrapifie keys list
  scrapifie keys revoke 3f0c…`;

export const define: DefineCommand = (command, shell) => {
  command.addHelpText('after', EXAMPLES);
  const add = (name: string, summary: string) =>
    command.command(name).description(summary).addOption(FLAGS.dataDir()).addOption(FLAGS.json());

  add('list', 'all keys, revoked ones too').action((flags: KeysFlags) =>
    withStore(shell, flags, async ({ store }) => {
      const keys = await store.listKeys(await store.defaultAccount());
      shell.stdout.write(
        flags.json ? keys.map((key) => `${JSON.stringify(keyView(key))}\n`).join('') : listing(keys),
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
    .addOption(new Option('--rate <n>', 'requests per minute').argParser(wholeNumber))
    .action((name: string, flags: CreateFlags) =>
      withStore(shell, flags, async ({ store }) => {
        const at = Date.now();
        const secret = newSecret();
        const scopes = [...new Set(flags.scope ?? DEFAULT_SCOPES)];
        const expiresAt = flags.expires === undefined ? null : at + flags.expires;
        const options = { name, scopes, ratePerMinute: flags.rate ?? null, expiresAt };
        const key = newKey(await store.defaultAccount(), secret, options, at);
        await store.createKey(key);
        const details = { name, scopes };
        await store.audit([{ at, actor: ACTOR, action: 'key.create', target: key.id, details }]);
        const made = { ...keyView({ ...key, revokedAt: null, lastUsedAt: null }), secret };
        shell.stdout.write(flags.json ? `${JSON.stringify(made)}\n` : `${secret}\n`);
        await outputWritten(shell.stdout).catch(async (error: ScrapifieError) => {
          // A key whose secret is not known is of no use to its owner.
          const revokedAt = Date.now();
          await store.revokeKey(key.accountId, key.id, revokedAt);
          await store.audit([
            { at: revokedAt, actor: ACTOR, action: 'key.revoke', target: key.id, details: {} },
          ]);
          const told = `${error.message} The secret was not shown, so that the key ${key.id} is revoked again.`;
          throw new ScrapifieError(error.code, told, { cause: error });
        });
        if (!flags.json) shell.stderr.write(`Key ${key.id}. The secret is not shown again.\n`);
      }),
    );

  add('revoke <id>', 'take a key out of use').action((id: string, flags: KeysFlags) =>
    withStore(shell, flags, async ({ store }) => {
      const account = await store.defaultAccount();
      const at = Date.now();
      if (!(await store.revokeKey(account, id as KeyId, at))) {
        throw new ScrapifieError('NOT_FOUND', `There is no key ${id}, or it is revoked already.`);
      }
      await store.audit([{ at, actor: ACTOR, action: 'key.revoke', target: id, details: {} }]);
      const others = (await store.listKeys(account)).some(
        (key) => isUsable(key, at) && key.scopes.includes('admin'),
      );
      shell.stdout.write(
        flags.json ? `${JSON.stringify({ id, revoked: true })}\n` : `Key ${id} is revoked.\n`,
      );
      if (!others) shell.stderr.write('No key with the scope admin is left; keys create makes one.\n');
    }),
  );
};

async function withStore(shell: Shell, flags: KeysFlags, action: (storage: OpenStorage) => Promise<void>) {
  const storage = await shell.openStorage(dataPlaceOf(shell, flags.dataDir));
  try {
    await action(storage);
  } finally {
    await storage.close();
  }
}

const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());

function listing(keys: readonly ApiKey[]): string {
  if (keys.length === 0) return 'There are no keys; the first start of the server makes one.\n';
  const now = Date.now();
  return table([
    ['ID', 'SECRET', 'SCOPES', 'STATE', 'CREATED', 'LAST USED', 'NAME'],
    ...keys.map((key) => [
      key.id,
      `${key.prefix}…`,
      key.scopes.join(','),
      key.revokedAt !== null ? 'revoked' : isUsable(key, now) ? 'usable' : 'expired',
      iso(key.createdAt) ?? '',
      iso(key.lastUsedAt) ?? 'never',
      key.name,
    ]),
  ]);
}
