import type { Command, Option } from 'commander';

/** What a shell offers after some words of a command line. */
export interface CompletedCommand {
  /** The words behind the name of the program: `jobs list`; empty for the program itself. */
  readonly path: string;
  /** What may stand next: subcommands, or the words that an argument is one of. */
  readonly words: readonly CompletedWord[];
  readonly options: readonly CompletedOption[];
}

export interface CompletedWord {
  readonly name: string;
  readonly summary: string;
  /** False for a value of an argument, behind which the same command goes on. */
  readonly isCommand: boolean;
}

export interface CompletedOption {
  /** Name of the option with its dashes, such as `--json`. */
  readonly name: string;
  readonly summary: string;
  /** What the option takes; null when it takes no value. */
  readonly value: CompletedValue | null;
}

/** `text` is what no shell can know, such as a number. */
export type CompletedValue =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'file' | 'folder' | 'text' };

/** All commands of the program, from the definitions that parse them. */
export function commandTree(program: Command): readonly CompletedCommand[] {
  return commandsBelow(program, []);
}

function commandsBelow(command: Command, path: readonly string[]): CompletedCommand[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command).map((each) => ({
    name: each.name(),
    summary: each.summary() || each.description(),
    isCommand: true,
  }));
  const [argument] = command.registeredArguments;
  const choices = (argument?.argChoices ?? []).map((name) => ({ name, summary: '', isCommand: false }));
  // Options of the program are understood behind every command.
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const own = {
    path: path.join(' '),
    words: [...subcommands, ...choices],
    options: options.flatMap(optionOf),
  };
  const below = command.commands.flatMap((each) => commandsBelow(each, [...path, each.name()]));
  return [own, ...below];
}

function optionOf(option: Option): CompletedOption[] {
  const { long, description } = option;
  if (long == null) return [];
  const takesValue = option.required || option.optional;
  return [{ name: long, summary: description, value: takesValue ? valueKindOf(option) : null }];
}

/** The name of a value in the help says what it is: `<file>`, `<dir>`, `<path>`. */
function valueKindOf({ flags, argChoices }: Option): CompletedValue {
  if (argChoices !== undefined) return { kind: 'words', words: argChoices };
  const name = /[<[](\w+)/.exec(flags)?.[1] ?? '';
  if (name === 'dir') return { kind: 'folder' };
  return { kind: name === 'file' || name === 'path' ? 'file' : 'text' };
}

/** The words that lead from one command to another, as `path>word` with where they lead. */
export function stepsOf(tree: readonly CompletedCommand[]): readonly { from: string; to: string }[] {
  return tree.flatMap(({ path, words }) =>
    words.flatMap(({ name, isCommand }) =>
      isCommand ? [{ from: `${path}>${name}`, to: path === '' ? name : `${path} ${name}` }] : [],
    ),
  );
}

/** Text between single quotes, for shells where a quote inside ends them. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
