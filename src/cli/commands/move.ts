import { resolve } from 'node:path';
import { Option } from 'commander';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { FLAGS, readSettings } from '../flags/flags.ts';
import { dataPlaceOf, describePlace, folderPlace, requireDatabase } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import { screenOf } from '../output/screen.ts';
import { backupSummary } from '../output/summaries.ts';
import type { DefineCommand, Shell, StoragePlace } from '../shell/shell.ts';

interface MoveFlags {
  readonly to: string;
  readonly s3?: string;
  readonly dataDir?: string;
  readonly json?: true;
}

const EXAMPLES = `
Stop every server of the installation first; the place it moves to must be empty. Every row and every body is read back
there and compared before the installation can be seen. The former place is left as it is: delete it when you no longer
need it, and do not start a server there again. A move that was interrupted is started again by the same command.

Examples:
  scrapifie move --to postgres://user:password@host/name --s3 https://key:secret@host/bucket
  scrapifie move --to ./data          back again, with SCRAPIFIE_DATABASE_URL and SCRAPIFIE_S3_URL set`;

export const define: DefineCommand = (command, shell) => {
  command
    .addOption(
      new Option('--to <place>', 'PostgreSQL, postgres://…, or a folder to move to').makeOptionMandatory(),
    )
    .addOption(new Option('--s3 <url>', 'object store for the bodies, written like SCRAPIFIE_S3_URL'))
    .addOption(new Option('--data-dir <dir>', 'folder to move from (default: the place of the settings)'))
    .addOption(FLAGS.json())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (flags: MoveFlags) => {
      const settings = readSettings(shell);
      const from = dataPlaceOf(shell, flags.dataDir);
      requireDatabase(from);
      const to = targetOf(shell, flags);
      const { moveInstallation } = await shell.backupTools();
      const report = await moveInstallation({ ...settings, ...from }, { ...settings, ...to });
      const done = `Everything in ${describePlace(from)} is in ${describePlace(to)} now.`;
      shell.stdout.write(
        flags.json ? `${JSON.stringify(report)}\n` : backupSummary(screenOf(shell), done, report),
      );
    });
};

function targetOf(shell: Shell, { to, s3 }: MoveFlags): StoragePlace {
  if (!/^postgres(?:ql)?:\/\//.test(to)) {
    if (s3 === undefined) return folderPlace(resolve(shell.cwd, to));
    throw new ScrapifieError(
      'INVALID_USAGE',
      '--s3 goes with a database: a folder has its bodies in itself.',
    );
  }
  // Checked like the settings of the same meaning.
  const { dataDir, databaseUrl, databasePool, s3Url, spillBytes } = readSettings(shell, {
    databaseUrl: to,
    s3Url: s3,
  });
  if (s3 === undefined) {
    throw new ScrapifieError('INVALID_USAGE', 'Name the object store for the bodies with --s3.');
  }
  return { dataDir, databaseUrl, databasePool, s3Url, spillBytes };
}
