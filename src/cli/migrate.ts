import { dataDirOf } from './data-folder.ts';
import { FLAGS } from './flags.ts';
import type { DefineCommand } from './shell.ts';

export const define: DefineCommand = (command, shell) => {
  command.addOption(FLAGS.dataDir()).action(async ({ dataDir: option }: { readonly dataDir?: string }) => {
    const dataDir = dataDirOf(shell, option);
    // Opening brings the schema up to date, and every command opens; this one only says so.
    const storage = await shell.openStorage(dataDir);
    try {
      const { to } = await storage.store.migrate();
      shell.stdout.write(`The database in ${dataDir} is up to date (schema ${to}).\n`);
    } finally {
      await storage.close();
    }
  });
};
