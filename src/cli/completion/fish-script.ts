import { type CompletedCommand, type CompletedOption, stepsOf } from './command-tree.ts';

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
          `${here} -l ${name.slice(2)}${value === null ? '' : offer(value)}${described(summary)}`,
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

function offer(value: NonNullable<CompletedOption['value']>): string {
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
