import { InvalidArgumentError, Option } from 'commander';
import { isPluginPart } from '../../config/plugin-part.ts';
import { EXTRACT_TYPES } from '../../jobs/extract-types.ts';
import { ENGINES } from '../../jobs/page-fields.ts';

/** A word of the list, or the name of what a plug-in offers; whether there is such a plug-in is known when it is loaded. */
export const choiceOrPart =
  (words: readonly string[]) =>
  (text: string): string => {
    if (words.includes(text) || isPluginPart(text)) return text;
    throw new InvalidArgumentError(`Allowed choices are ${words.join(', ')}, and those of plug-ins.`);
  };

const choiceFlag = (flag: string, says: string, words: readonly string[]): Option =>
  new Option(flag, says).choices(words).argParser(choiceOrPart(words));

export const engineFlag = (): Option => choiceFlag('--engine <name>', 'how pages are fetched', ENGINES);

export const extractFlag = (): Option =>
  choiceFlag('--extract <type>', 'read the page as a thing of this type; auto decides', EXTRACT_TYPES);
