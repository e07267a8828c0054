import { type RetentionView, retentionRequest } from '../../capabilities/retention/retention-admin.ts';
import { RETAINED_KINDS } from '../../core/model/retention.ts';
import { describeBytes, describeMs } from '../../lib/human-units.ts';
import { withAccountBackend } from '../backend/account-backend.ts';
import type { BackendFlags } from '../backend/open-backend.ts';
import { wholeNumber } from '../flags/flag-values.ts';
import { given, parseFlags, withPlaceFlags } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import { type Screen, screenOf } from '../output/screen.ts';
import { table } from '../output/table.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface RetentionFlags extends BackendFlags {
  readonly json?: true;
  readonly account?: string;
}
interface SetFlags extends RetentionFlags {
  readonly bodies?: string;
  readonly artifacts?: string;
  readonly records?: string;
  readonly ledger?: string;
  readonly jobs?: string;
  readonly snapshots?: string;
  readonly maxJobs?: number;
  readonly maxBytes?: number;
}

const FLAG_OF = {
  bodies: '--bodies',
  artifacts: '--artifacts',
  records: '--records',
  ledger: '--ledger',
  jobs: '--jobs',
  snapshots: '--snapshots',
  maxJobs: '--max-jobs',
  maxBytes: '--max-bytes',
};

const EXAMPLES = `
The shortest time of installation, operator, account and job counts. "set" replaces what was said before: what is left out
is without limit. With --account it is what the operator says for that account, else what the account says itself.

Examples:
  scrapifie retention show
  scrapifie retention set --bodies 24h --jobs 30d --max-jobs 1000
  scrapifie retention set --account tenant-1 --jobs 7d`;

export const define: DefineCommand = (command, shell) => {
  command.addHelpText('afterAll', helpBelow(EXAMPLES));
  const add = (name: string, summary: string) =>
    withPlaceFlags(command.command(name).description(summary)).option(
      '--account <id>',
      'of another account, by the operator',
    );
  const show = (view: RetentionView, { json }: RetentionFlags): void =>
    void shell.stdout.write(json ? `${JSON.stringify(view)}\n` : describe(screenOf(shell), view));

  add('show', 'how long the data of an account is kept').action((flags: RetentionFlags) =>
    withAccountBackend(shell, flags, async ({ retention }) =>
      show(await retention.get(flags.account), flags),
    ),
  );

  add('set', 'say how long the data of an account is kept')
    .option('--bodies <time>', 'bodies as they were fetched, e.g. 24h')
    .option('--artifacts <time>', 'pictures, PDFs and recorded answers')
    .option('--records <time>', 'what was read out of pages')
    .option('--ledger <time>', 'URLs and pages of ended jobs, but for their summaries')
    .option('--jobs <time>', 'ended jobs at all, e.g. 30d')
    .option('--snapshots <time>', 'snapshots of pages, from when they were seen last')
    .option('--max-jobs <n>', 'the newest ended jobs that are kept', wholeNumber)
    .option('--max-bytes <n>', 'bytes of fetched pages that are kept', wholeNumber)
    .action((flags: SetFlags) => {
      const { bodies, artifacts, records, ledger, jobs, snapshots, maxJobs, maxBytes } = flags;
      const asked = given({ bodies, artifacts, records, ledger, jobs, snapshots, maxJobs, maxBytes });
      const request = parseFlags(retentionRequest, asked, FLAG_OF);
      return withAccountBackend(shell, flags, async ({ retention }) =>
        show(await retention.set(flags.account, request), flags),
      );
    });
};

const DAY_MS = 86_400_000;
const ageWords = (ms: number) => (ms % DAY_MS === 0 ? `${ms / DAY_MS} d` : describeMs(ms));

function describe(screen: Screen, { own, operator, effective }: RetentionView): string {
  const columns = [own, operator, effective];
  const cell = (value: number | null | undefined, words: (value: number) => string) =>
    value === null || value === undefined ? '–' : words(value);
  const row = (
    name: string,
    of: (limits: NonNullable<typeof own>) => number | null,
    words: (value: number) => string,
  ) => [name, ...columns.map((limits) => cell(limits === null ? null : of(limits), words))];
  return table(screen, [
    ['KEPT', 'ACCOUNT', 'OPERATOR', 'EFFECTIVE'],
    ...RETAINED_KINDS.map((kind) => row(kind, (limits) => limits[`${kind}Ms`], ageWords)),
    row('most jobs', ({ maxJobs }) => maxJobs, String),
    row('most bytes', ({ maxBytes }) => maxBytes, describeBytes),
  ]);
}
