import { type CompletedCommand, type CompletedOption, quoted, stepsOf } from './command-tree.ts';

/** A script that zsh finds as `_scrapifie` in its fpath, or that is sourced. */
export function zshScript(tree: readonly CompletedCommand[]): string {
  const steps = stepsOf(tree).map(({ from, to }) => `      ${quoted(from)}) at=${quoted(to)} ;;`);
  const values = tree.flatMap(({ path, options }) =>
    options.flatMap((option) =>
      option.value === null
        ? []
        : [`    ${quoted(`${path}>${option.name}`)}) ${offer(option.value)}; return ;;`],
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

function offer(value: NonNullable<CompletedOption['value']>): string {
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
