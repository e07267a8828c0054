import type { Body } from '../../../api/types.ts';
import { FETCH_ADVANCED, FETCH_MAIN } from './fetch-options.ts';
import type { OptionField } from './option-field-types.ts';
import {
  EXTRACT_ADVANCED,
  EXTRACT_MAIN,
  GET_ADVANCED,
  GET_MAIN,
  LIMITS_ADVANCED,
  LIMITS_MAIN,
} from './page-options.ts';

export type ScrapeBody = Body<'scrape'>;
type Top<P extends string> = P extends `${infer Head}.${string}` ? Head : P;

export interface OptionGroup {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly main: readonly OptionField[];
  readonly advanced: readonly OptionField[];
}

/** Options by task. A compile error below names an option of the API that is neither here nor left to “other fields”. */
export const OPTION_GROUPS: readonly OptionGroup[] = [
  {
    id: 'get',
    title: 'What to get',
    about: 'Formats of the page',
    main: GET_MAIN,
    advanced: GET_ADVANCED,
  },
  {
    id: 'fetch',
    title: 'How to fetch',
    about: 'Engine, waits, actions, headers, proxy, place',
    main: FETCH_MAIN,
    advanced: FETCH_ADVANCED,
  },
  {
    id: 'extract',
    title: 'What to extract',
    about: 'Type, rules, schema, language model',
    main: EXTRACT_MAIN,
    advanced: EXTRACT_ADVANCED,
  },
  {
    id: 'limits',
    title: 'Limits and keeping',
    about: 'Time, attempts, stored pages',
    main: LIMITS_MAIN,
    advanced: LIMITS_ADVANCED,
  },
];

export const OPTION_FIELDS: readonly OptionField[] = OPTION_GROUPS.flatMap(({ main, advanced }) => [
  ...main,
  ...advanced,
]);

type Listed =
  | typeof GET_MAIN
  | typeof GET_ADVANCED
  | typeof FETCH_MAIN
  | typeof FETCH_ADVANCED
  | typeof EXTRACT_MAIN
  | typeof EXTRACT_ADVANCED
  | typeof LIMITS_MAIN
  | typeof LIMITS_ADVANCED;
type LeftToJson = 'inline' | 'exports' | 'retention' | 'async' | 'webhook';
type Missing = Exclude<keyof ScrapeBody, 'url' | Top<Listed[number]['path']> | LeftToJson>;
const missing: Readonly<Record<Missing, never>> = {};
void missing;
