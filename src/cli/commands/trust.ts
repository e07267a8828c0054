import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import {
  FOLDER_FILES,
  type FolderFile,
  revokeTrust,
  trustedFiles,
  trustFolder,
  trustPath,
  whyDistrusted,
} from '../../core/config/folder-trust.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { helpBelow } from '../output/help.ts';
import { cannotWrite } from '../output/screen.ts';
import { harmlessText } from '../output/table.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

const EXAMPLES = `
Commands that are started in a folder follow its .env and scrapifie.yaml, which may name code to load, addresses that keys
are sent to, and networks that may be reached. So they do it only where you have said so: of a file that is not trusted,
amounts such as SCRAPIFIE_PORT count, and nothing else. A file that changes is to be trusted anew. What it names, such as a
plug-in or a policy file, is trusted with it.

Examples:
  scrapifie trust                  the working folder
  scrapifie trust ./my-crawls
  scrapifie trust --list
  scrapifie trust ./my-crawls --revoke`;

interface TrustFlags {
  readonly list?: true;
  readonly revoke?: true;
}

export const define: DefineCommand = (command, shell) => {
  command
    .argument('[dir]', 'the folder (default: the working folder)')
    .option('--list', 'list the files that are trusted')
    .option('--revoke', 'end the trust in the files of the folder')
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action((dir: string | undefined, { list, revoke }: TrustFlags) => {
      const folder = resolve(shell.cwd, dir ?? '.');
      if (list) return listTrusted(shell);
      if (revoke) return revokeFolder(shell, folder);
      trust(shell, folder);
    });
};

const say = ({ stdout }: Shell, line: string): void => void stdout.write(`${harmlessText(line)}\n`);

function listTrusted(shell: Shell): void {
  for (const { path, state } of trustedFiles(shell.environment)) {
    say(shell, state === 'trusted' ? path : `${path} (${state} since, so not followed)`);
  }
}

function revokeFolder(shell: Shell, folder: string): void {
  const paths = writing(shell, () => revokeTrust(folder, shell.environment));
  if (paths.length === 0) throw new ScrapifieError('INVALID_USAGE', `No file of ${folder} is trusted.`);
  for (const path of paths) say(shell, `${path} is not trusted any more.`);
}

function trust(shell: Shell, folder: string): void {
  const files = writing(shell, () => trustFolder(folder, shell.environment));
  if (files.length === 0) {
    throw new ScrapifieError('INVALID_USAGE', `${folder} has neither ${FOLDER_FILES.join(' nor ')}.`);
  }
  for (const file of files) if (file.distrust === null) say(shell, trustedLine(file));
  const refused = files.flatMap(({ path, distrust }) =>
    distrust === null ? [] : [whyDistrusted(path, distrust)],
  );
  if (refused.length > 0) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      `What others can change is not trusted: ${refused.join('; ')}.`,
    );
  }
}

/** Names only: values may be secrets. */
function trustedLine({ path, text }: FolderFile): string {
  const names = path.endsWith('.env')
    ? Object.keys(parseEnv(text)).filter((name) => name.startsWith('SCRAPIFIE_'))
    : [];
  return `${path} is trusted as it is now${names.length === 0 ? '.' : `; it sets ${names.join(', ')}.`}`;
}

function writing<T>({ environment }: Shell, change: () => T): T {
  try {
    return change();
  } catch (error) {
    throw error instanceof ScrapifieError ? error : cannotWrite(trustPath(environment), error);
  }
}
