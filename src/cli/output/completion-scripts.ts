import type { Command, Option } from 'commander';

/** What a shell offers after some words of a command line. */
export interface CompletedCommand {
  /** The words behind the name of the program: `jobs list`; empty for the program itself. */
  readonly path: string;
  /** What may stand next: subcommands, or the words that an argument is one of. */
  readonly words: readonly CompletedWord[];
  readonly options: readonly CompletedOption[];
}

interface CompletedWord {
  readonly name: string;
  readonly summary: string;
  /** False for a value of an argument, behind which the same command goes on. */
  readonly isCommand: boolean;
}

interface CompletedOption {
  /** Name of the option with its dashes, such as `--json`. */
  readonly name: string;
  readonly summary: string;
  /** What the option takes; null when it takes no value. */
  readonly value: CompletedValue | null;
}

/** `text` is what no shell can know, such as a number. */
type CompletedValue =
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
function stepsOf(tree: readonly CompletedCommand[]): readonly { from: string; to: string }[] {
  return tree.flatMap(({ path, words }) =>
    words.flatMap(({ name, isCommand }) =>
      isCommand ? [{ from: `${path}>${name}`, to: path === '' ? name : `${path} ${name}` }] : [],
    ),
  );
}

/** Text between single quotes, for shells where a quote inside ends them. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A script for bash 3.2 and later: that of macOS has no associative arrays. */
export function bashScript(tree: readonly CompletedCommand[]): string {
  const steps = stepsOf(tree).map(({ from, to }) => `      ${quoted(from)}) at=${quoted(to)} ;;`);
  const values = tree.flatMap(({ path, options }) =>
    options.flatMap((option) =>
      option.value === null ? [] : [`    ${quoted(`${path}>${option.name}`)}) ${bashOffer(option.value)} ;;`],
    ),
  );
  const words = tree.map(({ path, words: next, options }) => {
    const names = next.map(({ name }) => name).join(' ');
    return `    ${quoted(path)}) words=${quoted(names)}; options=${quoted(options.map(({ name }) => name).join(' '))} ;;`;
  });
  return `# Completion of scrapifie for bash; written by "scrapifie completion bash".
_scrapifie() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} at='' words='' options='' i
  # "--option=value" is three words to bash.
  if [[ $current == = ]]; then current=''; elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at>\${COMP_WORDS[i]}" in
${steps.join('\n')}
    esac
  done
  COMPREPLY=()
  case "$at>$before" in
${values.join('\n')}
  esac
  case "$at" in
${words.join('\n')}
  esac
  if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$current"))
  else COMPREPLY=($(compgen -W "$words" -- "$current")); fi
}
complete -o default -F _scrapifie scrapifie
`;
}

function bashOffer(value: NonNullable<CompletedOption['value']>): string {
  switch (value.kind) {
    case 'words':
      return `COMPREPLY=($(compgen -W ${quoted(value.words.join(' '))} -- "$current")); return`;
    case 'folder':
      return `COMPREPLY=($(compgen -d -- "$current")); return`;
    case 'file':
      return 'return';
    case 'text':
      // Names of files would only be in the way.
      return 'compopt +o default 2>/dev/null; return';
  }
}

/** fish reads \\ and ' in single quotes as escapes. */
const quotedForFish = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

/** A script for fish 3. */
export function fishScript(tree: readonly CompletedCommand[]): string {
  const steps = stepsOf(tree).map(
    ({ from, to }) => `            case ${quotedForFish(from)}\n                set at ${quotedForFish(to)}`,
  );
  const lines = tree.flatMap(({ path, words, options }) => {
    const here = `complete -c scrapifie -n ${quotedForFish(`__scrapifie_at ${quotedForFish(path)}`)}`;
    return [
      ...words.map(({ name, summary }) => `${here} -f -a ${quotedForFish(name)}${described(summary)}`),
      ...options.map(
        ({ name, summary, value }) =>
          `${here} -l ${name.slice(2)}${value === null ? '' : fishOffer(value)}${described(summary)}`,
      ),
    ];
  });
  return `# Completion of scrapifie for fish; written by "scrapifie completion fish".
function __scrapifie_at
    set -l at ''
    for word in (commandline -opc)[2..]
        switch "$at>$word"
${steps.join('\n')}
        end
    end
    test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
}

const described = (summary: string): string => (summary === '' ? '' : ` -d ${quotedForFish(summary)}`);

function fishOffer(value: NonNullable<CompletedOption['value']>): string {
  switch (value.kind) {
    case 'words':
      return ` -x -a ${quotedForFish(value.words.join(' '))}`;
    case 'folder':
      return " -x -a '(__fish_complete_directories)'";
    case 'file':
      return ' -r -F';
    case 'text':
      return ' -x';
  }
}

/** A script that zsh finds as `_scrapifie` in its fpath, or that is sourced. */
export function zshScript(tree: readonly CompletedCommand[]): string {
  const steps = stepsOf(tree).map(({ from, to }) => `      ${quoted(from)}) at=${quoted(to)} ;;`);
  const values = tree.flatMap(({ path, options }) =>
    options.flatMap((option) =>
      option.value === null
        ? []
        : [`    ${quoted(`${path}>${option.name}`)}) ${zshOffer(option.value)}; return ;;`],
    ),
  );
  const words = tree.map(({ path, words: next, options }) =>
    [`    ${quoted(path)})`, `      next=(${entries(next)})`, `      options=(${entries(options)}) ;;`].join(
      '\n',
    ),
  );
  return `#compdef scrapifie
# Completion of scrapifie for zsh; written by "scrapifie completion zsh".
_scrapifie() {
  local at='' word before=\${words[CURRENT-1]}
  local -a next options
  for word in \${words[2,CURRENT-1]}; do
    case "$at>$word" in
${steps.join('\n')}
    esac
  done
  case "$at>$before" in
${values.join('\n')}
  esac
  case "$at" in
${words.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then _describe -o option options
  elif (( \${#next} )); then _describe command next
  else _files; fi
}
if [[ $funcstack[1] == _scrapifie ]]; then _scrapifie "$@"; else compdef _scrapifie scrapifie; fi
`;
}

/** A name and what it means, as `_describe` takes them. */
const entries = (list: readonly { readonly name: string; readonly summary: string }[]): string =>
  list.map(({ name, summary }) => quoted(summary === '' ? name : `${name}:${summary}`)).join(' ');

function zshOffer(value: NonNullable<CompletedOption['value']>): string {
  switch (value.kind) {
    case 'words':
      return `compadd -- ${value.words.map(quoted).join(' ')}`;
    case 'folder':
      return '_files -/';
    case 'file':
      return '_files';
    case 'text':
      return '_message value';
  }
}
