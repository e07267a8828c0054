import { Option } from 'commander';
import { backupRefOf } from '../../capabilities/backup/installation.ts';
import { FLAGS, readSettings } from '../flags/flags.ts';
import { dataPlaceOf, requireDatabase } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import { screenOf } from '../output/screen.ts';
import { backupSummary } from '../output/summaries.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface BackupFlags {
  readonly dataDir?: string;
  readonly withVaultKey?: true;
  /** True unless `--no-verify` is given. */
  readonly verify: boolean;
  readonly json?: true;
}

const EXAMPLES = `
Servers go on working meanwhile: the backup has everything as it was when it began. The file appears when it is complete.
Secrets in it are sealed by the vault key, which is not in it; with --with-vault-key it is, and every reader of the
file can read them.

Examples:
  scrapifie backup ./scrapifie.backup
  scrapifie backup s3://backups/scrapifie/today.backup
  scrapifie backup ./crawl.backup --data-dir ./example`;

export const define: DefineCommand = (command, shell) => {
  command
    .argument('<file>', 'new file, or s3://bucket/path/name')
    .addOption(FLAGS.dataDir())
    .addOption(new Option('--with-vault-key', 'put the key that secrets are encrypted with into the backup'))
    .addOption(new Option('--no-verify', 'do not read the backup once more when it is written'))
    .addOption(FLAGS.json())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (file: string, flags: BackupFlags) => {
      const place = dataPlaceOf(shell, flags.dataDir);
      requireDatabase(place);
      const settings = readSettings(shell);
      const to = backupRefOf(file, shell.cwd, settings.backupS3Url ?? settings.s3Url);
      const { makeBackup } = await shell.backupTools();
      const report = await makeBackup({ ...settings, ...place }, to, {
        hasVaultKey: flags.withVaultKey === true,
        isVerified: flags.verify,
      });
      shell.stdout.write(
        flags.json
          ? `${JSON.stringify(report)}\n`
          : backupSummary(screenOf(shell), `${file} is complete.`, report),
      );
    });
};
