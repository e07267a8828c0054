import { InvalidArgumentError } from 'commander';
import { isPluginPart } from '../../config/plugin-part.ts';

/** A word of the list, or the name of what a plug-in offers; whether there is such a plug-in is known when it is loaded. */
export const choiceOrPart =
  (words: readonly string[]) =>
  (text: string): string => {
    if (words.includes(text) || isPluginPart(text)) return text;
    throw new InvalidArgumentError(`Allowed choices are ${words.join(', ')}, and those of plug-ins.`);
  };
