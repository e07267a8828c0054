import { resolve } from 'node:path';
import { Option } from 'commander';
import { backupRefOf } from '../../capabilities/backup/installation.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { FLAGS, readSettings } from '../flags/flags.ts';
import { describePlace, folderPlace } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import { screenOf } from '../output/screen.ts';
import { backupSummary } from '../output/summaries.ts';
import type { DefineCommand, Shell, StoragePlace } from '../shell/shell.ts';

interface RestoreFlags {
  readonly dataDir?: string;
  readonly databaseUrl?: string;
  readonly s3?: string;
  readonly json?: true;
}

const EXAMPLES = `
The place must be empty: a folder that is not there, or a database and a bucket (or a prefix of one) that have nothing. A
backup of a folder can be restored to servers, and the other way round. The whole backup is verified first. A restore that
was interrupted is started again by the same command; until it is complete, no server starts in the folder.

Examples:
  scrapifie restore ./scrapifie.backup --data-dir ./data
  scrapifie restore ./scrapifie.backup --database-url postgres://user:password@host/name --s3 https://key:secret@host/bucket`;

export const define: DefineCommand = (command, shell) => {
  command
    .argument('<file>', 'a backup, or s3://bucket/path/name')
    .addOption(new Option('--data-dir <dir>', 'folder to restore to (default: the place of the settings)'))
    .addOption(new Option('--database-url <url>', 'PostgreSQL to restore to'))
    .addOption(new Option('--s3 <url>', 'object store for the bodies, written like SCRAPIFIE_S3_URL'))
    .addOption(FLAGS.json())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (file: string, flags: RestoreFlags) => {
      const settings = readSettings(shell, { databaseUrl: flags.databaseUrl, s3Url: flags.s3 });
      const backup = backupRefOf(file, shell.cwd, settings.backupS3Url ?? settings.s3Url);
      const to = targetOf(shell, flags, settings);
      const { restoreBackup } = await shell.backupTools();
      const report = await restoreBackup(backup, { ...settings, ...to });
      const done = `${file} was restored to ${describePlace(to)}.`;
      shell.stdout.write(
        flags.json ? `${JSON.stringify(report)}\n` : backupSummary(screenOf(shell), done, report),
      );
    });
};

function targetOf(shell: Shell, flags: RestoreFlags, settings: StoragePlace): StoragePlace {
  if (flags.dataDir === undefined) return settings;
  if (flags.databaseUrl !== undefined || flags.s3 !== undefined) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      'Name a folder, or a database and an object store, and not both.',
    );
  }
  return folderPlace(resolve(shell.cwd, flags.dataDir));
}
