import { PAGE_OPTION_FIELDS, type STORED_OPTIONS } from '../../../api/choices.ts';
import type { Body } from '../../../api/types.ts';
import type { OptionField } from './option-field-types.ts';

export type ScrapeBody = Body<'scrape'>;
type Top<P extends string> = P extends `${infer Head}.${string}` ? Head : P;

export interface OptionGroup {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly main: readonly OptionField[];
  readonly advanced: readonly OptionField[];
}

/** What a scrape leaves besides its page, and what no field asks for. */
const OTHER_FIELDS = [
  { path: 'snapshots', label: 'Keep each version of the page', kind: 'on' },
  { path: 'search', label: 'Findable by the full-text search', kind: 'on' },
  { path: 'lake', label: 'Write to the lake, for SQL', kind: 'on' },
  {
    path: '*',
    label: 'Other fields of the request',
    kind: 'json',
    hint: 'As in the API’s documentation: exports, retention, webhook, async, inline, engines of plug-ins.',
    placeholder: '{ "retention": { "bodies": "24h" } }',
  },
] as const satisfies readonly OptionField[];

type Group = (typeof PAGE_OPTION_FIELDS)[number]['group'];

const fieldsOf = (group: Group): Pick<OptionGroup, 'main' | 'advanced'> => {
  const own = PAGE_OPTION_FIELDS.filter((field) => field.group === group);
  return { main: own.filter(({ isMain }) => isMain), advanced: own.filter(({ isMain }) => !isMain) };
};

const limits = fieldsOf('limits');

/** Options by task. A compile error below names an option of the API that is neither here nor left to “other fields”. */
export const OPTION_GROUPS: readonly OptionGroup[] = [
  { id: 'get', title: 'What to get', about: 'Formats of the page', ...fieldsOf('get') },
  {
    id: 'fetch',
    title: 'How to fetch',
    about: 'Engine, waits, actions, headers, proxy, place',
    ...fieldsOf('fetch'),
  },
  {
    id: 'extract',
    title: 'What to extract',
    about: 'Type, rules, schema, language model',
    ...fieldsOf('extract'),
  },
  {
    id: 'limits',
    title: 'Limits and keeping',
    about: 'Time, attempts, stored pages',
    main: limits.main,
    advanced: [...limits.advanced, ...OTHER_FIELDS],
  },
];

export const OPTION_FIELDS: readonly OptionField[] = OPTION_GROUPS.flatMap(({ main, advanced }) => [
  ...main,
  ...advanced,
]);

type Listed = (typeof PAGE_OPTION_FIELDS)[number]['path'] | (typeof OTHER_FIELDS)[number]['path'];
/** Options of a page that have no field of their own, and what a request says of its job. */
type LeftToJson =
  | Extract<(typeof STORED_OPTIONS)[number], { readonly hasField: false }>['name']
  | 'exports'
  | 'retention'
  | 'async'
  | 'webhook';
type Missing = Exclude<keyof ScrapeBody, 'url' | Top<Listed> | LeftToJson>;
const missing: Readonly<Record<Missing, never>> = {};
void missing;
