import type { z } from 'zod';
import type { Format } from '../../../core/model/job.ts';
import { kindsWith } from '../../../core/model/job-kinds.ts';
import { keptOptions, type PageOption } from '../../../core/model/page-option.ts';
import { PLAIN_RENDER_OPTIONS } from '../../../core/model/plain-options.ts';
import type { RenderAction, RenderWish } from '../../../core/model/render.ts';
import { defined } from '../../../lib/defined.ts';
import { actions, screenshot, scroll, UNTIL, wait } from './action-fields.ts';
import { type DeviceOptions, deviceFieldsGiven, deviceOf } from './device-fields.ts';

/** What a step gets that does not say how long it may take. */
const DEFAULT_STEP_MS = 10_000;

/** What a browser is to do on a page. */
export const renderOptions = {
  wait: {
    schema: wait,
    stored: 'render.wait',
    flags: {
      waitFor: {
        flag: '--wait-for <selector>',
        says: 'read the page when an element matches',
        sets: 'selector',
      },
      waitMs: {
        flag: '--wait-ms <time>',
        says: 'read the page after a pause, e.g. 2s',
        reads: 'duration',
        sets: 'ms',
      },
      waitUntil: {
        flag: '--wait-until <event>',
        says: 'how far the page must have loaded',
        choices: UNTIL,
        sets: 'until',
      },
    },
    form: [
      {
        group: 'fetch',
        isMain: true,
        part: 'selector',
        label: 'Wait for an element',
        kind: 'text',
        placeholder: '#results',
      },
      {
        group: 'fetch',
        isMain: true,
        part: 'until',
        label: 'Wait until',
        kind: 'choice',
        choices: [
          ['', 'Loaded'],
          ['domcontentloaded', 'Document read'],
          ['networkidle', 'Network is quiet'],
        ],
        isHalf: true,
      },
      {
        group: 'fetch',
        isMain: true,
        part: 'ms',
        label: 'And then, ms',
        kind: 'number',
        placeholder: '500',
        isHalf: true,
      },
    ],
  },
  scroll: {
    schema: scroll,
    stored: 'render.scroll',
    flags: {
      scroll: { flag: '--scroll', says: 'go down the page until it grows no more' },
      noScroll: { flag: '--no-scroll', says: 'do not scroll, whatever type is extracted' },
      scrollSteps: {
        flag: '--scroll-steps <n>',
        says: 'screens to scroll at most; implies --scroll',
        reads: 'whole-number',
        sets: 'maxSteps',
      },
      scrollPause: {
        flag: '--scroll-pause <time>',
        says: 'pause after each screen; implies --scroll',
        reads: 'duration',
        sets: 'pauseMs',
      },
    },
    form: [
      {
        group: 'fetch',
        isMain: true,
        label: 'Scroll',
        kind: 'choice',
        choices: [
          ['', 'As usual'],
          ['true', 'Until the page grows no more'],
          ['false', 'Never'],
        ],
      },
    ],
  },
  actions: {
    schema: actions,
    stored: 'render.actions',
    ownFlag: '--actions',
    form: [{ group: 'fetch', isMain: true, label: 'Actions on the page', kind: 'actions' }],
  },
  screenshot: {
    schema: screenshot,
    requests: kindsWith({ isListOfUrls: false }),
    stored: 'render.screenshot',
    flagsOf: 'picture',
    flags: {
      fullPage: { flag: '--full-page', says: 'pictures of whole pages', sets: 'fullPage' },
      screenshotSelector: {
        flag: '--screenshot-selector <selector>',
        says: 'a picture of the first element that matches',
        sets: 'selector',
      },
      screenshotFormat: {
        flag: '--screenshot-format <name>',
        says: 'format of pictures',
        choices: ['png', 'jpeg'],
        sets: 'format',
      },
      screenshotQuality: {
        flag: '--screenshot-quality <n>',
        says: 'quality of a jpeg, 0 to 100',
        reads: 'whole-number',
        sets: 'quality',
      },
    },
    form: [
      { group: 'get', part: 'fullPage', label: 'Screenshot of the whole page', kind: 'on' },
      {
        group: 'get',
        part: 'selector',
        label: 'Screenshot of one element',
        kind: 'text',
        placeholder: '#chart',
      },
      {
        group: 'get',
        part: 'format',
        label: 'Picture format',
        kind: 'choice',
        choices: [
          ['', 'PNG'],
          ['jpeg', 'JPEG'],
        ],
        isHalf: true,
      },
      {
        group: 'get',
        part: 'quality',
        label: 'JPEG quality',
        kind: 'number',
        placeholder: '80',
        isHalf: true,
      },
    ],
  },
} as const satisfies Readonly<Record<string, PageOption>>;

/** What only a browser can honour, with the field that asks for it. */
const BROWSER_FORMATS: readonly Format[] = ['screenshot', 'pdf', 'xhr'];

/** Missing is the same as not given. */
export interface RenderOptions extends DeviceOptions, RequestedPlainOptions {
  readonly wait: z.output<typeof wait>;
  readonly scroll: z.output<typeof scroll>;
  readonly actions?: z.output<typeof actions>;
  readonly screenshot?: z.output<typeof screenshot>;
  readonly formats?: readonly Format[];
}
type RequestedPlainOptions = {
  readonly [Name in keyof typeof PLAIN_RENDER_OPTIONS]?: z.output<
    (typeof PLAIN_RENDER_OPTIONS)[Name]['schema']
  >;
};

/** Null when nothing is asked for that plain HTTP could not do. */
export function renderWishOf(request: RenderOptions): RenderWish | null {
  const { wait, scroll, actions = [], screenshot = null, formats = [] } = request;
  const wantsPicture = screenshot !== null || formats.includes('screenshot');
  const device = deviceOf(request);
  const wish: RenderWish = {
    ...(wait === null ? {} : { wait }),
    ...(scroll === null || scroll === false ? {} : { scroll: scroll === true ? {} : scroll }),
    ...(actions.length === 0 ? {} : { actions: actions.map(withTimeToWait) }),
    ...(wantsPicture ? { screenshot: screenshot ?? {} } : {}),
    ...(formats.includes('pdf') ? { pdf: true } : {}),
    ...(formats.includes('xhr') ? { captureXhr: true } : {}),
    ...keptOptions(PLAIN_RENDER_OPTIONS, request),
    ...defined({ device }),
  };
  return Object.keys(wish).length === 0 ? null : wish;
}

/** A pause that was asked for must not be what its step has no time for. */
function withTimeToWait(action: RenderAction): RenderAction {
  if (action.type !== 'wait' || action.ms === undefined || action.timeoutMs !== undefined) return action;
  return action.ms < DEFAULT_STEP_MS ? action : { ...action, timeoutMs: action.ms + DEFAULT_STEP_MS };
}

/** Fields that need a browser, by their paths. */
export function browserFields(request: RenderOptions): (readonly (string | number)[])[] {
  const { wait, scroll, actions = [], screenshot = null, formats = [] } = request;
  return [
    ...(wait === null ? [] : [['wait']]),
    ...(scroll === null || scroll === false ? [] : [['scroll']]),
    ...(actions.length === 0 ? [] : [['actions']]),
    ...(screenshot === null ? [] : [['screenshot']]),
    ...Object.keys(keptOptions(PLAIN_RENDER_OPTIONS, request)).map((name) => [name]),
    ...deviceFieldsGiven(request).map((name) => [name]),
    ...formats.flatMap((format, at) => (BROWSER_FORMATS.includes(format) ? [['formats', at]] : [])),
  ];
}

/** Pauses that leave no time for the page could only ever fail. */
export function checkPauses(
  { wait, actions = [], timeoutMs }: Pick<RenderOptions, 'wait' | 'actions'> & { readonly timeoutMs: number },
  context: z.core.$RefinementCtx,
): void {
  let sumMs = 0;
  const add = (ms: number | undefined, path: (string | number)[]) => {
    if (ms === undefined) return;
    const wasPossible = sumMs < timeoutMs;
    sumMs += ms;
    if (!wasPossible || sumMs < timeoutMs) return;
    context.addIssue({
      code: 'custom',
      path,
      message: 'All pauses together must be shorter than `timeoutMs`.',
    });
  };
  add(wait?.ms, ['wait', 'ms']);
  for (const [at, each] of actions.entries()) if (each.type === 'wait') add(each.ms, ['actions', at, 'ms']);
}
