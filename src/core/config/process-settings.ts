import { z } from 'zod';
import { FROM_ANY_FOLDER, whole } from './field-types.ts';

/** How a process tells of itself, holds hosts and ends; see docs/logs.md and docs/operations.md. */
export const processSettings = {
  logLevel: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Least severe log line that is written.')
    .meta(FROM_ANY_FOLDER),
  logFormat: z
    .enum(['json', 'pretty'])
    .optional()
    .describe('Form of log lines: `pretty` for people, or `json`; without it, `pretty` on a terminal.')
    .meta(FROM_ANY_FOLDER),
  hostLeaseMs: whole(3_000, 600_000)
    .default(30_000)
    .describe('After this time at most, another process takes over the hosts of one that has died.'),
  drainNoticeMs: whole(0, 600_000)
    .optional()
    .describe(
      'Time that a process which is told to stop goes on answering while `/readyz` says so, for balancers to notice; 5,000 with the role `api`, else 0.',
    )
    .meta(FROM_ANY_FOLDER),
  drainMs: whole(0, 600_000)
    .default(30_000)
    .describe('Time that running work gets to finish when the process is told to stop, after that notice.')
    .meta(FROM_ANY_FOLDER),
};
