import { Option } from 'commander';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { type WhyAnswer, whyOf } from '../../jobs/why.ts';
import type { Job } from '../../model/job.ts';
import { FLAGS } from '../flags/flags.ts';
import { jobNamed, type LocalJobs, withJobs } from '../folders/data-folder.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface WhyFlags {
  readonly dataDir?: string;
  readonly job?: string;
  readonly json?: true;
}

const EXAMPLES = `
Tells how a job found the URL, each attempt to fetch it, and which rule decided. Without --job, it is the newest job that
knows the URL. --data-dir takes the folder of a crawl as well.

Examples:
  scrapifie why https://example.com/about
  scrapifie why https://example.com/admin --job latest
  scrapifie why https://example.com/admin --data-dir ./crawl-example.com`;

/** Jobs that are looked through for one that knows the URL. */
const MOST_SEARCHED = 1_000;

export const define: DefineCommand = (command, shell) => {
  command
    .argument('<url>', 'the page')
    .addOption(new Option('--job <id>', 'the job to look into; "latest" is the newest one'))
    .addOption(FLAGS.dataDir())
    .addOption(FLAGS.json())
    .addHelpText('after', EXAMPLES)
    .action((url: string, flags: WhyFlags) =>
      withJobs(shell, flags.dataDir, async (local) => {
        const { job, answer } = await explain(local, url, flags.job);
        shell.stdout.write(flags.json ? `${JSON.stringify(answer)}\n` : told(job, answer));
      }),
    );
};

async function explain(
  { store, jobs, account }: LocalJobs,
  url: string,
  id: string | undefined,
): Promise<{ job: Job; answer: WhyAnswer }> {
  if (id !== undefined) {
    const job = await jobNamed(id, jobs, account);
    return { job, answer: await whyOf(store, job, url) };
  }
  const { items } = await jobs.list({ accountId: account, limit: MOST_SEARCHED });
  let newest: { job: Job; answer: WhyAnswer } | null = null;
  for (const job of items) {
    const answer = await whyOf(store, job, url);
    if (answer.state !== 'unseen') return { job, answer };
    newest ??= { job, answer };
  }
  if (newest === null) throw new ScrapifieError('NOT_FOUND', 'There are no jobs.');
  return newest;
}

function told({ id, kind, status }: Job, { url, state, sentences }: WhyAnswer): string {
  return [
    url,
    `${state} in the ${kind} ${id} (${status.replaceAll('_', ' ')})`,
    ...sentences.map((each) => `- ${each}`),
    '',
  ].join('\n');
}
