import { type CompletedCommand, type CompletedOption, quoted, stepsOf } from './command-tree.ts';

/** A script for bash 3.2 and later: that of macOS has no associative arrays. */
export function bashScript(tree: readonly CompletedCommand[]): string {
  const steps = stepsOf(tree).map(({ from, to }) => `      ${quoted(from)}) at=${quoted(to)} ;;`);
  const values = tree.flatMap(({ path, options }) =>
    options.flatMap((option) =>
      option.value === null ? [] : [`    ${quoted(`${path}>${option.name}`)}) ${offer(option.value)} ;;`],
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

function offer(value: NonNullable<CompletedOption['value']>): string {
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
