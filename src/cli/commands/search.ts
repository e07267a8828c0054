import { type Command, Option } from 'commander';
import { rebuildIndex } from '../../capabilities/query/search/search-reader.ts';
import type { SearchHit } from '../../capabilities/query/search/searches.ts';
import type { MarkedText } from '../../capabilities/query/search/snippet.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { apiClientOf, type BackendFlags, withBackend } from '../backend/open-backend.ts';
import { wholeNumber } from '../flags/flag-values.ts';
import { FLAGS, withAccountFlags } from '../flags/flags.ts';
import { openExisting } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import { type Screen, screenOf } from '../output/screen.ts';
import { harmlessText } from '../output/table.ts';
import type { DefineCommand, Shell } from '../shell/shell.ts';

interface SearchFlags extends BackendFlags {
  readonly host?: string;
  readonly job?: string;
  readonly limit: number;
  readonly json?: true;
}

const MOST_HITS = 1_000;
const DEFAULT_HITS = 10;

const EXAMPLES = `
Finds pages of jobs that were started with --search, or with "search": true on the API: the newest content of each URL.
All words must be on the page. "a b" is a phrase, wor* the beginning of a word, -word must not be on the page, a OR b is
either, title:word must be in the title. Words that begin with a dash go behind --.

Examples:
  scrapifie crawl https://example.com --search --out ./example
  scrapifie search heat pump --data-dir ./example
  scrapifie search '"heat pump" price*' --host example.com
  scrapifie search --api https://scrapifie.example -- solar -used
  scrapifie search rebuild`;

export const define: DefineCommand = (command, shell) => {
  withAccountFlags(command)
    .argument('[words...]', 'words to search for')
    .option('--host <name>', 'only pages of this host')
    .option('--job <id>', 'only pages whose newest content is of this job, or "latest"')
    .addOption(
      new Option('--limit <n>', 'pages to show at most').default(DEFAULT_HITS).argParser(wholeNumber),
    )
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action((words: readonly string[], flags: SearchFlags) => {
      if (words.length === 0)
        throw new ScrapifieError('INVALID_USAGE', 'Say what to search for. See --help.');
      return search(words, flags, shell);
    });
  command
    .command('rebuild')
    .description('make the index of a data folder or database anew; servers may go on meanwhile')
    .addOption(FLAGS.dataDir())
    .addOption(FLAGS.json())
    .action((_flags: unknown, own: Command) => rebuild(own.optsWithGlobals<SearchFlags>(), shell));
};

async function search(words: readonly string[], flags: SearchFlags, shell: Shell): Promise<void> {
  await withBackend(shell, flags, async (backend) => {
    const { host, job } = flags;
    const limit = Math.min(MOST_HITS, Math.max(1, flags.limit));
    const hits = await backend.search.run({ q: words.join(' '), host, job, limit });
    if (flags.json) shell.stdout.write(hits.map((hit) => `${JSON.stringify(hit)}\n`).join(''));
    else shell.stdout.write(listing(screenOf(shell), hits));
  });
}

async function rebuild(flags: SearchFlags, shell: Shell): Promise<void> {
  if (apiClientOf(shell, flags) !== null) {
    throw new ScrapifieError('INVALID_USAGE', 'The index is rebuilt where its data is: leave --api away.');
  }
  const storage = await openExisting(shell, flags.dataDir);
  try {
    const pages = await rebuildIndex({ store: storage.store, index: storage.search });
    shell.stdout.write(flags.json ? `${JSON.stringify({ pages })}\n` : `${pages} pages indexed.\n`);
  } finally {
    await storage.close();
  }
}

function listing(screen: Screen, hits: readonly SearchHit[]): string {
  if (hits.length === 0) return 'No page was found.\n';
  return hits
    .map(({ title, url, fetchedAt, snippet }) => {
      const lines = [
        ...(title === null ? [] : [shown(screen, title)]),
        `${url}  ${fetchedAt.slice(0, 10)}`,
        ...(snippet.text === '' ? [] : [`  ${shown(screen, snippet)}`]),
      ];
      return `${lines.join('\n')}\n`;
    })
    .join('\n');
}

/** What was found stands out on a terminal. A page must not be able to control it. */
function shown(screen: Screen, { text, marks }: MarkedText): string {
  let at = 0;
  let line = '';
  for (const [start, end] of marks) {
    const found = harmlessText(text.slice(start, end));
    line += harmlessText(text.slice(at, start)) + screen.paint('bold', found);
    at = end;
  }
  return line + harmlessText(text.slice(at));
}
