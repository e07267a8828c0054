import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandTree } from '../../src/cli/output/completion-scripts.ts';
import { wordsOf } from '../../src/cli/output/help.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { createShell } from '../../src/wiring/shell.ts';
import { runCommand, temporaryFolder } from './cli-command.ts';

const { stdin, stdout, stderr } = process;
const shell = createShell({ environment: {}, cwd: '/', stdin, stdout, stderr });
const program = await buildProgram(['completion'], shell, () => undefined);

/** Commands that do something, those below others included. */
const actions = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(actions);

it('the help of every command has an example of it', async () => {
  const without: string[] = [];
  for (const words of actions(program).map((command) => wordsOf(command).slice(1))) {
    const { stdout: help } = await runCommand([...words, '--help']);
    const [, examples = ''] = help.split('\nExamples:\n');
    if (!examples.includes(`scrapifie ${words.join(' ')}`)) without.push(words.join(' '));
  }
  expect(without).toEqual([]);
});

it('the help of the program has every command below a heading that says what it is for', async () => {
  const { stdout: help } = await runCommand(['--help']);
  const [, rest = ''] = help.split('\nCommands:\n');
  expect(rest.split('\n\n', 1)[0]?.trim().split('\n')).toEqual([expect.stringMatching(/^help /)]);
});

it('the documentation lists the commands that work with a server', () => {
  const takesServer = ({ options }: Command) => options.some(({ long }) => long === '--api');
  const remote = program.commands.flatMap((command) =>
    takesServer(command) || actions(command).every(takesServer)
      ? [command.name()]
      : actions(command)
          .filter(takesServer)
          .map((each) => wordsOf(each).slice(1).join(' ')),
  );
  const page = readFileSync('docs/command-line.md', 'utf8');
  const [, listed = ''] =
    /\n((?:`[a-z ]+`(?:, |,\n| and |\nand ))*`[a-z ]+` )work on a running server/.exec(page) ?? [];
  expect([...listed.matchAll(/`([a-z ]+)`/g)].map(([, name]) => name)).toEqual(remote);
});

it.each([
  [['scrpe', '--help'], "unknown command 'scrpe' (Did you mean scrape?)."],
  [['help', 'scrpe'], "unknown command 'scrpe' (Did you mean scrape?)."],
  [['jobs', 'lst', '--help'], "unknown command 'lst' (Did you mean list?)."],
  [['jobs', 'lst'], "unknown command 'lst' (Did you mean list?)."],
  [['crawl', '--max-page', '3'], "unknown option '--max-page' (Did you mean --max-pages?)."],
])('%j is refused with the name that was meant', async (argv, message) => {
  const { exitCode, stdout: out, stderr: told } = await runCommand(argv);
  expect({ exitCode, out, told }).toEqual({
    exitCode: 2,
    out: '',
    told: `error INVALID_USAGE: ${message} See --help.\n`,
  });
});

it('help goes without colours into a pipe, and with them where they are forced', async () => {
  expect((await runCommand(['jobs', '--help'])).stdout).not.toContain('\u001b');
  expect((await runCommand(['jobs', '--help'], { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001b[1m');
});

/** What each shell offers for the last of the words, by the script that the program prints for it. */
const SHELLS = {
  bash: (file: string, words: readonly string[]) =>
    `source ${file}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
     compopt() { :; }; _scrapifie; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Functions of the completion system write what they are given: without a terminal there is no such system.
  zsh: (file: string, words: readonly string[]) =>
    `compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _files() { print FILES; }; _message() { :; }
     _describe() { print -l -- "\${(@)\${(P)\${@[-1]}}%%:*}"; }
     source ${file}; words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}
     PREFIX='${words.at(-1)}'; _scrapifie`,
  fish: (file: string, words: readonly string[]) => `source ${file}; complete -C '${words.join(' ')}'`,
} as const;

describe.each(Object.keys(SHELLS) as (keyof typeof SHELLS)[])('completion in %s', (name) => {
  const folder = temporaryFolder();
  const file = folder.path(`completion.${name}`);
  // The scripts need no shell to be made; where one is not installed, its own run is left out.
  const isInstalled = spawnSync(name, ['-c', 'true']).status === 0;
  beforeAll(async () => writeFileSync(file, (await runCommand(['completion', name])).stdout));
  afterAll(folder.remove);

  function offered(...words: string[]): string[] {
    const script = SHELLS[name](file, ['scrapifie', ...words]);
    const { stdout: lines, stderr: problems } = spawnSync(name, ['-c', script], { encoding: 'utf8' });
    expect(problems).toBe('');
    const last = words.at(-1) ?? '';
    return lines
      .split('\n')
      .map((line) => line.split('\t')[0] ?? '')
      .filter((word) => word !== '' && word.startsWith(last))
      .sort();
  }

  it.runIf(isInstalled)('offers commands, subcommands, options and their values', () => {
    expect(offered('jo')).toEqual(['jobs']);
    const names = commandTree(program)
      .find(({ path }) => path === 'jobs')
      ?.words.map((word) => word.name);
    expect(offered('jobs', '')).toEqual([...(names ?? [])].sort());
    expect(offered('crawl', '--max-pr')).toEqual(['--max-proxy-bytes', '--max-proxy-tier']);
    expect(offered('crawl', '--engine', 'f')).toEqual(['firecrawl', 'flaresolverr']);
    expect(offered('jobs', 'list', '--st')).toEqual(['--status']);
    expect(offered('completion', '')).toEqual(['bash', 'fish', 'zsh']);
  });

  it.runIf(isInstalled)('reads the script without a complaint', () => {
    expect(spawnSync(name, ['-n', file], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });
});
