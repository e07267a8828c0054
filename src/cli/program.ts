import { Command, CommanderError } from 'commander';
import { nearestName } from '../core/config/nearest-name.ts';
import { EXIT } from '../core/errors/registry.ts';
import { asScrapifieError, ScrapifieError } from '../core/errors/scrapifie-error.ts';
import { describeFailure } from './failure.ts';
import { applyDefaults } from './flags/option-defaults.ts';
import { HELP_STYLE } from './output/help.ts';
import { hasColours, outputWritten, screenOf } from './output/screen.ts';
import type { DefineCommand, Shell } from './shell/shell.ts';

interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<{ readonly define: DefineCommand }>;
}

/** A command's file is loaded when that command is meant, so that the others cost nothing. */
const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  scrape: { summary: 'fetch one page and print it', load: () => import('./commands/scrape.ts') },
  crawl: {
    summary: 'follow links from one or more URLs into a folder',
    load: () => import('./commands/crawl.ts'),
  },
  map: { summary: 'list the URLs of a site', load: () => import('./commands/map.ts') },
  login: {
    summary: 'log a session in, for scrape and crawl',
    load: () => import('./commands/login.ts'),
  },
  extract: {
    summary: 'read a page from a file, without fetching',
    load: () => import('./commands/extract.ts'),
  },
  shell: { summary: 'try selectors and rules on a page', load: () => import('./commands/shell.ts') },
  serve: { summary: 'start the API and work on jobs', load: () => import('./commands/serve.ts') },
  dashboard: {
    summary: 'print a link that signs in to the dashboard',
    load: () => import('./commands/dashboard.ts'),
  },
  mcp: {
    summary: 'serve the Model Context Protocol on standard input and output',
    load: () => import('./commands/mcp.ts'),
  },
  jobs: {
    summary: 'look at the jobs of a data folder, and change them',
    load: () => import('./commands/jobs.ts'),
  },
  why: {
    summary: 'tell what became of a URL, and why',
    load: () => import('./commands/why.ts'),
  },
  diff: {
    summary: 'tell what changed on a site between two jobs',
    load: () => import('./commands/diff.ts'),
  },
  export: { summary: 'write the pages of a job to a file', load: () => import('./commands/export.ts') },
  query: {
    summary: 'ask about stored pages, links and records',
    load: () => import('./commands/query.ts'),
  },
  search: { summary: 'search the text of stored pages', load: () => import('./commands/search.ts') },
  reextract: {
    summary: 'read the stored pages of a job once more, without fetching',
    load: () => import('./commands/reextract.ts'),
  },
  lake: {
    summary: 'show, compact and rebuild the lake of Parquet files',
    load: () => import('./commands/lake.ts'),
  },
  accounts: {
    summary: 'list, create, change and disable accounts',
    load: () => import('./commands/accounts.ts'),
  },
  keys: { summary: 'list, create, rotate and revoke API keys', load: () => import('./commands/keys.ts') },
  sessions: {
    summary: 'make sessions, look at what they keep from page to page, and delete them',
    load: () => import('./commands/sessions.ts'),
  },
  credentials: {
    summary: 'store what to log in with, encrypted',
    load: () => import('./commands/credentials.ts'),
  },
  history: {
    summary: 'list what a page looked like over time, over all jobs with --snapshots',
    load: () => import('./commands/history.ts'),
  },
  schedules: {
    summary: 'run jobs again and again, by a cron line or at an interval',
    load: () => import('./commands/schedules.ts'),
  },
  monitor: {
    summary: 'watch pages, a site or a sitemap for changes, without a server',
    load: () => import('./commands/monitor.ts'),
  },
  monitors: {
    summary: 'have a server watch pages, sites and sitemaps for changes',
    load: () => import('./commands/monitors.ts'),
  },
  webhooks: {
    summary: 'send events to URLs, chats and e-mail, and look at what was sent',
    load: () => import('./commands/webhooks.ts'),
  },
  vault: {
    summary: 'change the key that secrets are encrypted with',
    load: () => import('./commands/vault.ts'),
  },
  credits: {
    summary: 'what accounts may spend: grant, limit and show it',
    load: () => import('./commands/credits.ts'),
  },
  usage: {
    summary: 'what was used, by day, key, job, engine or host, and what it cost',
    load: () => import('./commands/usage.ts'),
  },
  audit: {
    summary: 'read, export and verify the audit log',
    load: () => import('./commands/audit.ts'),
  },
  policy: {
    summary: 'check a policy file, or show what holds for a host',
    load: () => import('./commands/policy.ts'),
  },
  doctor: {
    summary: 'check that this machine and its settings will work',
    load: () => import('./commands/doctor.ts'),
  },
  cleanup: {
    summary: 'remove stored bodies that no page refers to any more',
    load: () => import('./commands/cleanup.ts'),
  },
  retention: {
    summary: 'how long the data of an account is kept',
    load: () => import('./commands/retention.ts'),
  },
  backup: {
    summary: 'write everything into one file, also beside running servers',
    load: () => import('./commands/backup.ts'),
  },
  restore: {
    summary: 'make an installation of a backup, in an empty place',
    load: () => import('./commands/restore.ts'),
  },
  verify: {
    summary: 'read a backup and check everything in it',
    load: () => import('./commands/verify.ts'),
  },
  move: {
    summary: 'move an installation from a folder to servers, or back',
    load: () => import('./commands/move.ts'),
  },
  migrate: {
    summary: 'bring the database of a data folder up to date',
    load: () => import('./commands/migrate.ts'),
  },
  init: {
    summary: 'write settings, a policy file and defaults of options to begin with',
    load: () => import('./commands/init.ts'),
  },
  trust: {
    summary: 'let commands follow .env and scrapifie.yaml of a folder',
    load: () => import('./commands/trust.ts'),
  },
  demo: {
    summary: 'show all this on a small site of this machine, in less than a minute',
    load: () => import('./commands/demo.ts'),
  },
  completion: {
    summary: 'print a script that completes commands in bash, zsh or fish',
    load: () => import('./commands/completion.ts'),
  },
};

/** The headings of the help, and the commands below them. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'First steps:': ['demo', 'init', 'trust', 'doctor', 'completion'],
  'Fetch pages:': ['scrape', 'crawl', 'map', 'login', 'extract', 'shell'],
  'Look at what is stored:': [
    ...['jobs', 'why', 'diff', 'history', 'export', 'query', 'search', 'reextract', 'lake'],
  ],
  'Watch and repeat:': ['monitor', 'monitors', 'schedules', 'webhooks'],
  'Run a server:': ['serve', 'dashboard', 'mcp', 'policy', 'accounts', 'keys', 'credits', 'usage', 'audit'],
  'Sessions and secrets:': ['sessions', 'credentials', 'vault'],
  'Keep and move data:': ['retention', 'cleanup', 'backup', 'verify', 'restore', 'move', 'migrate'],
};

/** The width of help that goes to a file or a pipe. */
const HELP_COLUMNS = 80;

const EXAMPLES = `
Examples:
  scrapifie demo
  scrapifie scrape https://example.com --format text
  scrapifie crawl https://example.com --max-pages 500 --out ./example
  scrapifie crawl https://example.com --out ./example --resume
  scrapifie serve --port 3000

Exit codes: 0 done · 2 wrong usage · 3 some pages failed · 4 nothing could be fetched · 5 settings, folder, disk or
port · 10 changes found · 130 interrupted. Settings come from SCRAPIFIE_* variables and .env; docs/configuration.md lists them.
Defaults of options come from scrapifie.yaml; "scrapifie init" writes one.`;

/** Runs one command and says how it ended. Every failure is written to stderr with its code. */
export async function run(argv: readonly string[], shell: Shell): Promise<number> {
  let exitCode: number = EXIT.ok;
  try {
    const program = await buildProgram(argv, shell, (code) => {
      exitCode = code;
    });
    refuseUnknownHelp(program, argv);
    try {
      await program.parseAsync(argv, { from: 'user' });
    } catch (error) {
      const failure = error instanceof CommanderError ? usageError(error) : error;
      if (failure !== null && failure !== 'help') throw failure;
      exitCode = failure === null ? EXIT.ok : EXIT.usage;
    }
    // Every command writes its results there, and none of them may seem to be done when they are lost.
    await outputWritten(shell.stdout);
    return exitCode;
  } catch (failure) {
    const { paint } = screenOf(shell, 'stderr');
    const told = describeFailure(failure, shell.environment);
    shell.stderr.write(told.replace(/^error \w+:/, (label) => paint('red', label)));
    return asScrapifieError(failure).spec.exitCode;
  }
}

/** The program with the command that is meant; with all of them for `completion`. */
export async function buildProgram(
  argv: readonly string[],
  shell: Shell,
  endWith: (exitCode: number) => void,
): Promise<Command> {
  const program = new Command('scrapifie')
    .description(
      'Scrapes and crawls the web: politely, without losing a page, and with the reason for every URL.',
    )
    .version(shell.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .option('--config <file>', 'file with defaults of options (default: scrapifie.yaml in this folder)')
    .hook('preAction', (root, action) =>
      applyDefaults(action, shell, root.opts<{ config?: string }>().config, Object.keys(COMMANDS)),
    )
    .configureHelp(HELP_STYLE)
    .configureOutput({
      getOutHelpWidth: () => screenOf(shell).columns ?? HELP_COLUMNS,
      getErrHelpWidth: () => screenOf(shell, 'stderr').columns ?? HELP_COLUMNS,
      getOutHasColors: () => hasColours(shell.stdout, shell.environment),
      getErrHasColors: () => hasColours(shell.stderr, shell.environment),
      writeOut: (text) => void shell.stdout.write(text),
      writeErr: (text) => void shell.stderr.write(text),
      // Told once, by run, with its code.
      outputError: () => undefined,
    });
  const meant = argv.find(
    (word, at) => !word.startsWith('-') && word !== 'help' && argv[at - 1] !== '--config',
  );
  const groups = Object.entries(GROUPS);
  // Headings stand in the order in which the help meets their commands.
  const order = groups.flatMap(([, names]) => names);
  const entries = Object.entries(COMMANDS).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  for (const [name, { summary, load }] of entries) {
    const heading = groups.find(([, names]) => names.includes(name))?.[0] ?? 'Commands:';
    const command = program.command(name).description(summary).helpGroup(heading);
    if (name === meant || meant === 'completion') (await load()).define(command, shell, endWith, run);
  }
  return program;
}

/** Help for a misspelt command would show that of the program, as if the command was right. Throws INVALID_USAGE. */
function refuseUnknownHelp(program: Command, argv: readonly string[]): void {
  if (!argv.some((word) => word === 'help' || word === '--help' || word === '-h')) return;
  let command = program;
  for (const [at, word] of argv.entries()) {
    if (word.startsWith('-') || word === 'help' || argv[at - 1] === '--config') continue;
    if (command.commands.length === 0 || command.registeredArguments.length > 0) return;
    const names = command.commands.map((each) => each.name());
    const found = command.commands[names.indexOf(word)];
    if (found === undefined) {
      const nearest = nearestName(word, names);
      const meant = nearest === null ? '' : ` (Did you mean ${nearest}?)`;
      throw new ScrapifieError('INVALID_USAGE', `unknown command '${word}'${meant}. See --help.`);
    }
    command = found;
  }
}

/** Null when help or version was asked for, which is not an error. `help`: printed because no command was named. */
function usageError({ code, exitCode, message }: CommanderError): ScrapifieError | 'help' | null {
  if (exitCode === 0) return null;
  if (code === 'commander.help') return 'help';
  const told = message.replace(/^error: /, '').replace(/\n/g, ' ');
  return new ScrapifieError('INVALID_USAGE', `${told}${told.endsWith('.') ? '' : '.'} See --help.`);
}
