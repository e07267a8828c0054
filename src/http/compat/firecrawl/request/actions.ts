import { z } from 'zod';
import { defined } from '../../../../lib/defined.ts';
import { screenshotFields } from './formats.ts';

const selector = z.string().min(1).max(1_000);

export const actionField = z.discriminatedUnion('type', [
  z
    .strictObject({
      type: z.literal('wait'),
      milliseconds: z.number().int().min(1).max(60_000).optional(),
      selector: selector.optional(),
    })
    .refine(
      ({ milliseconds, selector: waited }) => (milliseconds === undefined) !== (waited === undefined),
      'Either `milliseconds` or `selector` must be given, not both.',
    ),
  z.strictObject({ type: z.literal('click'), selector, all: z.boolean().default(false) }),
  z.strictObject({ type: z.literal('write'), text: z.string().max(10_000) }),
  z.strictObject({ type: z.literal('press'), key: z.string().min(1).max(50) }),
  z.strictObject({
    type: z.literal('scroll'),
    direction: z.enum(['up', 'down']).default('down'),
    selector: selector.optional(),
  }),
  z.strictObject({ type: z.literal('screenshot'), ...screenshotFields }),
  z.strictObject({ type: z.literal('scrape') }),
  z.strictObject({ type: z.literal('executeJavascript'), script: z.string().min(1).max(100_000) }),
  z
    .strictObject({
      type: z.literal('pdf'),
      format: z.string().optional(),
      landscape: z.boolean().optional(),
      scale: z.number().optional(),
    })
    .refine(
      (given) => Object.keys(given).length === 1,
      'Paper, orientation and scale of a PDF cannot be chosen here.',
    ),
]);

export type Action = z.output<typeof actionField>;

const WHOLE_PAGE = '({ url: location.href, html: document.documentElement.outerHTML })';
const SCREEN_PX = 800;

/** The steps as the browser engine knows them, one for each; a PDF is no step, but made of the page at the end. */
export const stepsOf = (actions: readonly Action[]): object[] => actions.flatMap(stepOf);

function stepOf(action: Action): object[] {
  switch (action.type) {
    case 'wait': {
      const { selector: waited, milliseconds } = action;
      return [{ type: 'wait', ...(waited === undefined ? { ms: milliseconds } : { selector: waited }) }];
    }
    case 'click':
      if (action.all) return [{ type: 'evaluate', script: clickAll(action.selector) }];
      return [{ type: 'click', selector: action.selector }];
    case 'write':
      // Written where the focus is, as after a click.
      return [{ type: 'type', selector: ':focus', text: action.text }];
    case 'press':
      return [{ type: 'press', key: action.key }];
    case 'scroll':
      if (action.selector !== undefined) return [{ type: 'scroll', selector: action.selector }];
      return [{ type: 'scroll', ...(action.direction === 'up' ? { pixels: -SCREEN_PX } : {}) }];
    case 'screenshot':
      return [{ type: 'screenshot', ...pictureOf(action) }];
    case 'scrape':
      return [{ type: 'evaluate', script: WHOLE_PAGE }];
    case 'executeJavascript':
      return [{ type: 'evaluate', script: action.script }];
    case 'pdf':
      return [];
  }
}

/** What each step was called, in the order of `stepsOf`. */
export const stepNames = (actions: readonly Action[]): string[] =>
  actions.flatMap(({ type }) => (type === 'pdf' ? [] : [type]));

const clickAll = (css: string) =>
  `for (const each of document.querySelectorAll(${JSON.stringify(css)})) each.click(); return null;`;

/** Only a JPEG has a quality. */
export const pictureOf = ({
  fullPage,
  quality,
}: {
  readonly fullPage?: boolean | undefined;
  readonly quality?: number | undefined;
}): object => ({
  ...defined({ fullPage }),
  ...(quality === undefined ? {} : { format: 'jpeg', quality }),
});
