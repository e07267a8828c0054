import { Option } from 'commander';
import { credentialView } from '../../api/views/session-view.ts';
import { readVaultKeys, withVaultKeys } from '../../config/vault-keys.ts';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { AccountId } from '../../model/ids.ts';
import type { AccountStore } from '../../ports/store.ts';
import { CREDENTIAL_KINDS, type CredentialKind, credentialInputSchema } from '../../sessions/credential.ts';
import { type Credentials, createCredentials } from '../../sessions/credentials.ts';
import { NAME, NAME_RULE } from '../../sessions/session.ts';
import { createVault, openVault, VAULT_HINT } from '../../sessions/vault.ts';
import { FLAGS, parseFlags, readSettings } from '../flags/flags.ts';
import { readSecret } from '../flags/secret-input.ts';
import { dataPlaceOf } from '../folders/data-folder.ts';
import { table } from '../output/table.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface CredentialsFlags {
  readonly dataDir?: string;
  readonly json?: true;
}
interface SetFlags extends CredentialsFlags {
  readonly kind: CredentialKind;
  readonly host: string[];
  readonly username?: string;
  readonly allowHttp?: true;
}

const ACTOR = 'command line';
const MOST_SHOWN = 1_000;
const FLAG_OF = { hosts: '--host', username: '--username', password: 'The password', token: 'The token' };

const EXAMPLES = `
Secrets are read from standard input, or asked for: never an argument, which other processes can see. They are
kept encrypted with the vault key, is never shown again, and is sent to the hosts that --host names only.

  login, basic   --username, and the password as input; login is for {{username}} and {{password}} in type actions
  bearer         the token as input
  headers        lines 'Name: value' as input
  cookies        lines 'name=value' as input

Examples:
  scrapifie credentials set shop --kind login --host shop.example --username ann
  pass show api-token | scrapifie credentials set api --kind bearer --host api.example
  scrapifie credentials list
  scrapifie credentials delete shop`;

export const define: DefineCommand = (command, shell) => {
  const print = (text: string): void => void shell.stdout.write(text);
  const add = (name: string, summary: string) =>
    command.command(name).description(summary).addOption(FLAGS.dataDir()).addOption(FLAGS.json());
  command.addHelpText('after', EXAMPLES);

  add('list', 'names, kinds and hosts').action((flags: CredentialsFlags) =>
    withCredentials(shell, flags, async ({ credentials, account }) => {
      const { items } = await credentials.list({ accountId: account, limit: MOST_SHOWN });
      const views = items.map(credentialView);
      print(flags.json ? views.map(jsonLine).join('') : listing(views));
    }),
  );
  add('set <name>', 'store what to log in with; the secret comes from standard input')
    .addOption(new Option('--kind <kind>', 'what it is').choices(CREDENTIAL_KINDS).makeOptionMandatory())
    .addOption(
      new Option('--host <host>', 'where it may be sent: a host, or *.domain; repeatable')
        .argParser((host: string, sofar: string[] | undefined) => [...(sofar ?? []), host])
        .makeOptionMandatory(),
    )
    .addOption(new Option('--username <name>', 'for login and basic'))
    .addOption(new Option('--allow-http', 'send it by unencrypted http too'))
    .action(async (name: string, flags: SetFlags) => {
      requireName(name);
      const given = { ...readSettings(shell), ...dataPlaceOf(shell, flags.dataDir) };
      // Checked before the user types a password.
      if (given.databaseUrl !== undefined && readVaultKeys(given).vaultKey === undefined) {
        throw new ScrapifieError('UNSUPPORTED_OPTION', `Credentials are only kept encrypted. ${VAULT_HINT}`);
      }
      const credential = parseFlags(credentialInputSchema, await askFor(flags, shell), FLAG_OF);
      const put = async ({ credentials, account, store }: Local) => {
        await credentials.put(account, name, credential);
        const { kind, hosts } = credential;
        const details = { kind, hosts };
        await store.audit([
          { at: Date.now(), actor: ACTOR, action: 'credential.put', target: name, details },
        ]);
        print(flags.json ? jsonLine({ name, ...details }) : `Credentials ${name} are stored.\n`);
      };
      await withCredentials(shell, flags, put, true);
    });
  add('delete <name>', 'forget stored credentials').action((name: string, flags: CredentialsFlags) =>
    withCredentials(shell, flags, async ({ credentials, account, store }) => {
      if (!(await credentials.delete(account, name))) {
        throw new ScrapifieError('NOT_FOUND', `There are no credentials "${name}".`);
      }
      const at = Date.now();
      await store.audit([{ at, actor: ACTOR, action: 'credential.delete', target: name, details: {} }]);
      print(flags.json ? jsonLine({ name, deleted: true }) : `Credentials ${name} are deleted.\n`);
    }),
  );
};

function requireName(name: string): void {
  if (!NAME.test(name)) throw new ScrapifieError('INVALID_USAGE', `The name must be ${NAME_RULE}.`);
}

async function askFor({ kind, host, username, allowHttp }: SetFlags, { stderr }: Shell): Promise<unknown> {
  const isByUser = kind === 'login' || kind === 'basic';
  if (isByUser !== (username !== undefined)) {
    const told = isByUser ? 'needs --username' : 'has no user name: leave --username out';
    throw new ScrapifieError('INVALID_USAGE', `The kind ${kind} ${told}.`);
  }
  const ends = { input: process.stdin, output: stderr };
  const base = { kind, hosts: host, ...(allowHttp === true ? { allowHttp } : {}) };
  if (isByUser) return { ...base, username, password: await readSecret('Password: ', ends, false) };
  if (kind === 'bearer') return { ...base, token: await readSecret('Token: ', ends, false) };
  const [mark, prompt] = kind === 'headers' ? [':', 'Name: value'] : ['=', 'name=value'];
  const lines = await readSecret(`${prompt}, an empty line ends: `, ends, true);
  return { ...base, [kind]: pairsOf(lines, mark) };
}

/** Says which line is wrong, never what it holds. */
function pairsOf(text: string, mark: string): Record<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const pairs = lines.map((line, index) => {
    const at = line.indexOf(mark);
    if (at < 1) throw new ScrapifieError('INVALID_USAGE', `Line ${index + 1} has no name before "${mark}".`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return Object.fromEntries(pairs);
}

interface Local {
  readonly credentials: Credentials;
  readonly account: AccountId;
  readonly store: AccountStore;
}

async function withCredentials(
  shell: Shell,
  { dataDir }: CredentialsFlags,
  action: (local: Local) => Promise<void>,
  isSealing = false,
) {
  const place = dataPlaceOf(shell, dataDir);
  const { store, close } = await shell.openStorage(place);
  try {
    const given = { ...readSettings(shell), ...place };
    // Lists and deletes need no key, and must not make one.
    const keys = isSealing ? await withVaultKeys(given, () => store.hasSealed()) : readVaultKeys(given);
    const vault = isSealing ? openVault(keys) : createVault(keys.vaultKey, keys.vaultOldKeys);
    const credentials = createCredentials({ store, vault, service: null, now: Date.now });
    await action({ credentials, account: await store.defaultAccount(), store });
  } finally {
    await close();
  }
}

const jsonLine = (value: unknown) => `${JSON.stringify(value)}\n`;

function listing(views: readonly ReturnType<typeof credentialView>[]): string {
  if (views.length === 0) return 'There are no credentials.\n';
  return table([
    ['NAME', 'KIND', 'CHANGED', 'HOSTS'],
    ...views.map(({ name, kind, updatedAt, hosts }) => [name, kind, updatedAt, hosts.join(' ')]),
  ]);
}
