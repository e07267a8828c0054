import { styleText } from 'node:util';
import type { AddHelpTextContext, Command, HelpConfiguration, Option } from 'commander';

const HEADING = '\nExamples:\n';

/**
 * What stands below the options in the help of a command. Its subcommands show the examples that call them, so that
 * every help has an example and each is written once.
 */
export const helpBelow =
  (text: string) =>
  ({ command }: AddHelpTextContext): string => {
    if (isTopCommand(command)) return text;
    const examples = examplesFor(command, text);
    return examples === '' ? '' : `${HEADING}${examples}`;
  };

/** A command that the program itself has, or the program. */
const isTopCommand = ({ parent }: Command): boolean => parent === null || parent.parent === null;

/** The lines of the examples that begin with the words of the command; an indented line belongs to the one before. */
function examplesFor(command: Command, text: string): string {
  const words = `  ${wordsOf(command).join(' ')}`;
  const lines = text.slice(text.indexOf(HEADING) + HEADING.length).split('\n');
  let isMeant = false;
  const meant = lines.filter((line) => {
    if (!line.startsWith('   ')) isMeant = line === words || line.startsWith(`${words} `);
    return isMeant;
  });
  return meant.join('\n');
}

/** Returns the words that a user types for a command, such as `scrapifie jobs list`. */
export function wordsOf(command: Command): string[] {
  return command.parent === null ? [command.name()] : [...wordsOf(command.parent), command.name()];
}

/** Colours of the help; where they are not wanted, the parser of commands takes them out again. */
export const HELP_STYLE: HelpConfiguration = {
  showGlobalOptions: true,
  visibleGlobalOptions: (command) => optionsAbove(command.parent),
  styleTitle: (text) => styled('bold', text),
  styleCommandText: (text) => styled('cyan', text),
  styleSubcommandText: (text) => styled('cyan', text),
  styleOptionText: (text) => styled('green', text),
};

/** Options that the commands above a command take behind it as well. */
const optionsAbove = (command: Command | null): Option[] =>
  command === null
    ? []
    : [
        ...command.options.filter(({ hidden, long }) => !hidden && long !== '--version'),
        ...optionsAbove(command.parent),
      ];

const styled = (style: 'bold' | 'cyan' | 'green', text: string): string =>
  styleText(style, text, { validateStream: false });
