import {
  PAGE_OPTION_NAMES,
  type PageOptionName,
  pageOption,
  storedPlace,
} from '../src/capabilities/jobs/request/page-options.ts';
import { eventSpec, eventsTo, eventWords } from '../src/core/model/event-types.ts';
import {
  EXPORT_FORMATS,
  EXPORT_TYPES,
  exportFormatSpec,
  exportTypeSpec,
} from '../src/core/model/export-registry.ts';
import { JOB_STATUSES } from '../src/core/model/job.ts';
import { JOB_KINDS, traitsOfKind } from '../src/core/model/job-kinds.ts';
import { REASON_NAMES, reasonSpec } from '../src/core/model/reasons.ts';
import { TASK_STATES } from '../src/core/model/task.ts';
import { WEBHOOK_FORMATS } from '../src/core/ports/webhook-store.ts';
import { VALUE_TYPES } from '../src/extract/rules/rule-schema.ts';

/** The lists that forms of the dashboard offer, from the registries of the program: the text of dashboard/src/api/choices.ts. */
export function dashboardChoices(): string {
  return [
    '// Written by scripts/write-docs.ts from the registries of the program. Do not edit.',
    constant('EXPORT_TYPES', 'What an export can hold.', exportTypes()),
    constant('EXPORT_FORMATS', 'How an export can be written, and from what.', exportFormats()),
    constant(
      'STREAM_EVENTS',
      'What a stream of live events tells of, and how good the news is.',
      streamEvents(),
    ),
    constant('JOB_KINDS', 'The kinds of jobs.', jobKinds()),
    constant('JOB_STATUSES', 'How far a job is, and how it ended.', JOB_STATUSES),
    constant('TASK_STATES', 'What became of a URL, or will.', TASK_STATES),
    constant('WEBHOOK_EVENTS', 'What a webhook can be told of.', webhookEvents()),
    constant('WEBHOOK_FORMATS', 'How the deliveries of a webhook are written.', WEBHOOK_FORMATS),
    constant('BUDGET_REASONS', 'Which limits of its own can end a job.', budgetReasons()),
    constant('VALUE_TYPES', 'What a value that a rule finds can be read as.', VALUE_TYPES),
    constant('PAGE_OPTION_FIELDS', 'How forms ask for the options of a page.', optionFields()),
    constant(
      'STORED_OPTIONS',
      'Where jobs have the options of a page, and what those are that were not given.',
      storedOptions(),
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

const jobKinds = () =>
  JOB_KINDS.map((value) => {
    const { label, isListOfUrls } = traitsOfKind(value);
    return { value, label, isListOfUrls };
  });

const streamEvents = () =>
  eventsTo('stream').map((value) => ({ value, level: eventSpec(value)?.level ?? 'neutral' }));

const webhookEvents = () => eventsTo('webhook').map((value) => ({ value, about: `${eventWords(value)}.` }));

const budgetReasons = () => REASON_NAMES.filter((name) => reasonSpec(name).budget !== undefined);

const exportTypes = () =>
  EXPORT_TYPES.map((value) => {
    const { label, sentence: about, isOfTwoJobs = false } = exportTypeSpec(value);
    return { value, label, about, isOfTwoJobs };
  });

const exportFormats = () =>
  EXPORT_FORMATS.map((value) => {
    const { label, takes, takesByteOrderMark: isForExcel = false } = exportFormatSpec(value);
    return { value, label, takes, isForExcel };
  });

/** Where forms show the fields of all other options. */
const OTHERS = '*';
/** The order of the fields in a form, where it is not that of the registry. */
const FORM_ORDER: readonly (PageOptionName | typeof OTHERS)[] = [
  'headers',
  'crossOriginHeaders',
  'cookies',
  'session',
  'proxy',
  'identity',
  'identityBrowser',
  'method',
  'body',
  'reuse',
  OTHERS,
  'mobile',
  'viewport',
  'locale',
  'timezone',
  'geolocation',
  'obeyRobots',
];

function optionFields(): object[] {
  const place = (name: PageOptionName) => {
    const at = FORM_ORDER.indexOf(name);
    return at === -1 ? FORM_ORDER.indexOf(OTHERS) : at;
  };
  return PAGE_OPTION_NAMES.toSorted((a, b) => place(a) - place(b)).flatMap((name) =>
    pageOption(name).form.map(({ group, isMain = false, part, choices, ...shown }) => ({
      group,
      isMain,
      path: part === undefined ? name : `${name}.${part}`,
      ...shown,
      ...(choices === undefined
        ? {}
        : { choices: choices.map(([value, label, hint]) => ({ value, label, hint })) }),
    })),
  );
}

function storedOptions(): object[] {
  const whole = PAGE_OPTION_NAMES.map((name) => ({
    name,
    stored: storedPlace(name),
    standard: pageOption(name).schema.safeParse(undefined).data ?? null,
    hasField: pageOption(name).form.length > 0,
  }));
  return [...whole, ...partsApart()];
}

/** Parts of options that jobs keep apart from the rest of the option. */
const partsApart = () =>
  PAGE_OPTION_NAMES.flatMap((name) =>
    Object.values(pageOption(name).flags ?? {}).flatMap(({ sets, stored = [] }) =>
      sets === undefined || stored.length === 0 || stored.some((place) => place.startsWith(storedPlace(name)))
        ? []
        : stored.map((place) => ({ name: `${name}.${sets}`, stored: place, standard: null, hasField: true })),
    ),
  );

function constant(name: string, about: string, entries: readonly (object | string)[]): string {
  const lines = entries.map((entry) => `  ${JSON.stringify(entry)},`);
  return [`/** ${about} */`, `export const ${name} = [`, ...lines, '] as const;'].join('\n');
}
