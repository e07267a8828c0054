import { InvalidArgumentError, Option } from 'commander';
import { EXTRACT_TYPES } from '../../capabilities/jobs/extract-types.ts';
import { isPluginPart } from '../../core/config/plugin-part.ts';

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
