import { InvalidArgumentError, Option } from 'commander';
import { isPluginPart } from '../../config/plugin-part.ts';
import { EXTRACT_TYPES } from '../../jobs/extract-types.ts';

/** A word of the list, or the name of what a plug-in offers; whether there is such a plug-in is known when it is loaded. */
export const choiceOrPart =
  (words: readonly string[]) =>
  (text: string): string => {
    if (words.includes(text) || isPluginPart(text)) return text;
    throw new InvalidArgumentError(`Allowed choices are ${words.join(', ')}, and those of plug-ins.`);
  };

export const extractFlag = (): Option =>
  new Option('--extract <type>', 'read the page as a thing of this type; auto decides')
    .choices(EXTRACT_TYPES)
    .argParser(choiceOrPart(EXTRACT_TYPES));
