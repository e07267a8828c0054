import { z } from 'zod';
import { bool, FROM_ANY_FOLDER, whole } from './field-types.ts';

/** Which browsers render pages, and how; see docs/browsers.md. */
export const browserSettings = {
  browserPath: z
    .string()
    .min(1)
    .optional()
    .describe('Chromium, Chrome or Edge to render pages with; without it, the first that is found.'),
  unconfinedBrowsers: bool
    .default(false)
    .describe(
      'Renders pages although browsers cannot be confined: as root, or without their sandbox. A hole in a browser then gives a page the rights of the server.',
    ),
  browserPages: whole(0, 1_000)
    .default(0)
    .describe('Pages rendered at once in this process; 0 takes what cores and memory allow.')
    .meta(FROM_ANY_FOLDER),
  browserWaitMs: whole(100, 600_000)
    .default(10_000)
    .describe('Time that a page waits for a free browser before it is put off with BROWSERS_BUSY.')
    .meta(FROM_ANY_FOLDER),
  browserPagesEach: whole(0, 1_000)
    .default(0)
    .describe('Pages that one browser shows at once; 0 takes what cores and memory allow, 8 at most.')
    .meta(FROM_ANY_FOLDER),
  browserRecyclePages: whole(1, 1_000_000)
    .default(500)
    .describe('Pages that a browser shows before it is replaced by a new one.')
    .meta(FROM_ANY_FOLDER),
  browserMaxBytes: whole(0, Number.MAX_SAFE_INTEGER)
    .default(0)
    .describe(
      'Memory of a browser with all its processes; over it, the largest is ended. 0 takes a quarter of all, 4 GB at most.',
    ),
  rendererMaxBytes: whole(0, Number.MAX_SAFE_INTEGER)
    .default(0)
    .describe(
      'Memory of one process that shows pages; over it, it is ended. 0 takes three quarters of the limit of the browser.',
    ),
  browserWarm: whole(0, 100)
    .default(0)
    .describe('Browsers that are started with the process and kept while they have nothing to do.')
    .meta(FROM_ANY_FOLDER),
  browserIsolation: z
    .enum(['site', 'none'])
    .default('none')
    .describe('Processes of the sites within a page: `site` gives each its own, with `none` they share one.'),
  remoteBrowserUrl: z
    .url({ protocol: /^(?:wss?|https?)$/ })
    .optional()
    .describe(
      'Browser elsewhere that the stealth engine uses: `ws://…` of a Playwright server, or `http://…` of a CDP port.',
    ),
  actionPauseMinMs: whole(0, 60_000)
    .default(500)
    .describe(
      'Shortest pause before each action of a disguised browser; a policy may say otherwise for a domain.',
    )
    .meta(FROM_ANY_FOLDER),
  actionPauseMaxMs: whole(0, 60_000)
    .default(2_000)
    .describe('Longest pause before each of these actions.')
    .meta(FROM_ANY_FOLDER),
  humanTyping: bool
    .default(true)
    .describe('A disguised browser presses keys one by one, with pauses.')
    .meta(FROM_ANY_FOLDER),
  humanScrolling: bool
    .default(true)
    .describe('A disguised browser turns a wheel instead of jumping down a page.')
    .meta(FROM_ANY_FOLDER),
};
