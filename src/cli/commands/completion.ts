import { Argument, type Command } from 'commander';
import {
  bashScript,
  type CompletedCommand,
  commandTree,
  fishScript,
  zshScript,
} from '../output/completion-scripts.ts';
import { helpBelow } from '../output/help.ts';
import type { DefineCommand } from '../shell/shell.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

const EXAMPLES = `
Prints a script that completes commands, options and their values when Tab is pressed. It knows this version's commands:
write it again after an update. The script starts no program, so that Tab answers at once.

Examples:
  scrapifie completion bash > ~/.local/share/bash-completion/completions/scrapifie
  source <(scrapifie completion bash)
  scrapifie completion zsh > "\${fpath[1]}/_scrapifie"
  scrapifie completion fish > ~/.config/fish/completions/scrapifie.fish`;

/** The program loads all its commands for this one, because the script is made of them. */
export const define: DefineCommand = (command, shell) => {
  command
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action((name: keyof typeof SCRIPTS) => {
      const tree: readonly CompletedCommand[] = commandTree(command.parent as Command);
      shell.stdout.write(SCRIPTS[name](tree));
    });
};
