import { FLAGS } from '../flags/flags.ts';
import { dataPlaceOf, describePlace, openExisting } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import type { DefineCommand } from '../shell/shell.ts';

const EXAMPLES = `
Every command that opens a data folder does the same; this one does nothing else, and says so.

Examples:
  scrapifie migrate
  scrapifie migrate --data-dir ./crawl-example.com`;

export const define: DefineCommand = (command, shell) => {
  command
    .addOption(FLAGS.dataDir())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async ({ dataDir: option }: { readonly dataDir?: string }) => {
      const place = dataPlaceOf(shell, option);
      // A folder without a database has nothing to bring up to date: it is rather a name that was mistyped. Opening brings
      // the schema up to date, and every command opens; this one only says so.
      const storage = await openExisting(shell, option);
      try {
        const { to } = await storage.store.migrate();
        shell.stdout.write(`The database in ${describePlace(place)} is up to date (schema ${to}).\n`);
      } finally {
        await storage.close();
      }
    });
};
