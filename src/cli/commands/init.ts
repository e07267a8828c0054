import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { FOLDER_FILES, trustFolder } from '../../core/config/folder-trust.ts';
import { envExample } from '../../core/config/setting-list.ts';
import { DEFAULTS_FILE } from '../flags/option-defaults.ts';
import { helpBelow } from '../output/help.ts';
import { cannotWrite } from '../output/screen.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

const EXAMPLES = `
Writes files to begin with, each with comments that say what its lines do; nothing in them changes how Scrapifie works yet.
  .env             settings of servers and commands
  policy.yaml      how hosts are treated: rates, hours, engines, what is never fetched
  scrapifie.yaml   defaults of options, for commands in this folder

Files that are there already stay, unless you say yes when asked, or --force. Commands follow what is written here until
it is changed; then "scrapifie trust" has them follow it again.

Examples:
  scrapifie init
  scrapifie init ./my-crawls
  scrapifie init --force`;

const POLICY_FILE = 'policy.yaml';

const DEFAULTS = `# Defaults of options, for commands that are started in this folder. The name of a command, and below it its
# options without dashes; "scrapifie help COMMAND" lists them. What is typed goes before the environment and .env, and
# these go before what stands here. Take the # away from what you want.

#crawl:
#  max-pages: 500
#  rate: 1
#  include: ["/blog/*", "/news/*"]
#  format: [metadata, text]

#scrape:
#  format: markdown

#jobs list:
#  limit: 50
`;

export const define: DefineCommand = (command, shell) => {
  command
    .argument('[dir]', 'the folder; made where there is none (default: the working folder)')
    .option('--force', 'overwrite files that are there already')
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (dir: string | undefined, flags: { readonly force?: true }) => {
      const folder = resolve(shell.cwd, dir ?? '.');
      const policy = readFileSync(await shell.shippedPolicy(), 'utf8');
      const files = { '.env': settingsFile(), [POLICY_FILE]: policy, [DEFAULTS_FILE]: DEFAULTS };
      const written: string[] = [];
      for (const [name, text] of Object.entries(files)) {
        const path = join(folder, name);
        const isThere = existsSync(path);
        if (isThere && flags.force !== true && !(await isOverwritten(shell, path))) {
          shell.stdout.write(`${path} is there already, and stays as it is.\n`);
          continue;
        }
        write(folder, path, text, isThere);
        written.push(name);
        shell.stdout.write(`${path} is written.\n`);
      }
      trustWritten(shell, folder, written);
    });
};

/** What this program wrote it may follow. A file that stayed is someone else's. */
function trustWritten(shell: Shell, folder: string, written: readonly string[]): void {
  const names = FOLDER_FILES.filter((name) => written.includes(name));
  try {
    trustFolder(folder, shell.environment, names);
  } catch (error) {
    const why = (error as Error).message;
    shell.stderr.write(
      `The files are not trusted yet, because the list of trusted files cannot be written: ${why}\n`,
    );
  }
}

/** The policy file beside it is the one setting that is switched on. */
const settingsFile = (): string =>
  envExample()
    .replace(/^#.*Copy to \.env and take/m, '# Every setting with its default. Take')
    .replace(/^#SCRAPIFIE_POLICY_FILE=.*$/m, `SCRAPIFIE_POLICY_FILE=./${POLICY_FILE}`);

/** Asks on a terminal. Without one no answer can be given, and the file stays. */
async function isOverwritten({ stdin, stderr }: Shell, path: string): Promise<boolean> {
  if (stdin.isTTY !== true) return false;
  const asking = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(?:es)?$/i.test(
      (await asking.question(`${path} is there already. Overwrite it? [y/N] `)).trim(),
    );
  } finally {
    asking.close();
  }
}

/** Settings may come to hold secrets: only their owner may read them. */
function write(folder: string, path: string, text: string, isThere: boolean): void {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, text, { mode: path.endsWith('.env') ? 0o600 : 0o666, flag: isThere ? 'w' : 'wx' });
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
