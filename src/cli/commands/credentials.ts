import { Option } from 'commander';
import {
  CREDENTIAL_KINDS,
  type CredentialKind,
  credentialInputSchema,
} from '../../capabilities/sessions/credential.ts';
import { NAME, NAME_RULE } from '../../capabilities/sessions/session.ts';
import { VAULT_HINT } from '../../capabilities/sessions/vault.ts';
import type { CredentialView } from '../../capabilities/views/session-view.ts';
import { readVaultKeys } from '../../core/config/vault-keys.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { BackendCredentials } from '../backend/backend.ts';
import { apiClientOf } from '../backend/open-backend.ts';
import { type SubcommandFlags, subcommandsOn } from '../backend/subcommands.ts';
import { readSecret } from '../flags/command-inputs.ts';
import { parseFlags, readSettings, withPlaceFlags } from '../flags/flags.ts';
import { dataPlaceOf } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import type { Screen } from '../output/screen.ts';
import { table } from '../output/table.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface SetFlags extends SubcommandFlags {
  readonly kind: CredentialKind;
  readonly host: string[];
  readonly username?: string;
  readonly allowHttp?: true;
}

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
  const { add, addDelete, run } = subcommandsOn(command, shell, {
    name: 'credentials',
    noun: 'Credentials',
    argument: '<name>',
    withFlags: withPlaceFlags,
  });
  command.addHelpText('afterAll', helpBelow(EXAMPLES));

  add('list', 'names, kinds and hosts').action((flags: SubcommandFlags) =>
    run(flags, (credentials) => credentials.list(), listing),
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
      // Checked before the user types a password.
      if (apiClientOf(shell, flags) === null) requireVaultKey(shell, flags.dataDir);
      const credential = parseFlags(credentialInputSchema, await askFor(flags, shell), FLAG_OF);
      const { kind, hosts } = credential;
      const put = async (credentials: BackendCredentials) => {
        await credentials.put(name, credential);
        return { name, kind, hosts };
      };
      await run(flags, put, () => `Credentials ${name} are stored.\n`, true);
    });
  addDelete('forget stored credentials', 'name', (credentials, name) => credentials.delete(name));
};

function requireName(name: string): void {
  if (!NAME.test(name)) throw new ScrapifieError('INVALID_USAGE', `The name must be ${NAME_RULE}.`);
}

async function askFor(
  { kind, host, username, allowHttp }: SetFlags,
  { stdin, stderr }: Shell,
): Promise<unknown> {
  const isByUser = kind === 'login' || kind === 'basic';
  if (isByUser !== (username !== undefined)) {
    const told = isByUser ? 'needs --username' : 'has no user name: leave --username out';
    throw new ScrapifieError('INVALID_USAGE', `The kind ${kind} ${told}.`);
  }
  const ends = { input: stdin, output: stderr };
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

/** Processes that share a database make no key themselves. */
function requireVaultKey(shell: Shell, dataDir: string | undefined): void {
  const given = { ...readSettings(shell), ...dataPlaceOf(shell, dataDir) };
  if (given.databaseUrl === undefined || readVaultKeys(given).vaultKey !== undefined) return;
  throw new ScrapifieError('UNSUPPORTED_OPTION', `Credentials are only kept encrypted. ${VAULT_HINT}`);
}

function listing(screen: Screen, views: readonly CredentialView[]): string {
  if (views.length === 0) return 'There are no credentials.\n';
  return table(screen, [
    ['NAME', 'KIND', 'CHANGED', 'HOSTS'],
    ...views.map(({ name, kind, updatedAt, hosts }) => [name, kind, updatedAt, hosts.join(' ')]),
  ]);
}
