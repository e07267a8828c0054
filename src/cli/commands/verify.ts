import { backupRefOf } from '../../capabilities/backup/installation.ts';
import { FLAGS, readSettings } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import { screenOf } from '../output/screen.ts';
import { backupSummary } from '../output/summaries.ts';
import type { DefineCommand } from '../shell/shell.ts';

const EXAMPLES = `
Reads the whole backup: the checksum of every part, the hash of every body, number and hash of the rows of every table,
and that every body that a page refers to is there. Exit code 5 and BACKUP_DAMAGED when anything is wrong.

Examples:
  scrapifie verify ./scrapifie.backup
  scrapifie verify s3://backups/scrapifie/today.backup`;

export const define: DefineCommand = (command, shell) => {
  command
    .argument('<file>', 'a backup, or s3://bucket/path/name')
    .addOption(FLAGS.json())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (file: string, flags: { readonly json?: true }) => {
      const settings = readSettings(shell);
      const backup = backupRefOf(file, shell.cwd, settings.backupS3Url ?? settings.s3Url);
      const report = await (await shell.backupTools()).checkBackup(backup);
      const done = `${file} is right: a backup of ${new Date(report.createdAt).toISOString()}.`;
      shell.stdout.write(
        flags.json ? `${JSON.stringify(report)}\n` : backupSummary(screenOf(shell), done, report),
      );
    });
};
