import { Option } from 'commander';
import { type WhyAnswer, whyOf } from '../../capabilities/jobs/results/why.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Job } from '../../core/model/job.ts';
import { urlPart } from '../../lib/url-part.ts';
import { createApiBackend } from '../backend/api-backend.ts';
import type { ApiClient } from '../backend/api-client.ts';
import { apiClientOf, type BackendFlags } from '../backend/open-backend.ts';
import { FLAGS } from '../flags/flags.ts';
import { jobNamed, type LocalJobs, withJobs } from '../folders/data-folder.ts';
import { helpBelow } from '../output/help.ts';
import { type Screen, screenOf } from '../output/screen.ts';
import { storyOf } from '../output/summaries.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface WhyFlags extends BackendFlags {
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
/** Jobs of a server that are asked for the URL, one after the other. */
const MOST_ASKED = 100;

export const define: DefineCommand = (command, shell) => {
  command
    .argument('<url>', 'the page')
    .addOption(new Option('--job <id>', 'the job to look into; "latest" is the newest one'))
    .addOption(FLAGS.dataDir())
    .addOption(FLAGS.api())
    .addOption(FLAGS.apiKey())
    .addOption(FLAGS.json())
    .addHelpText('afterAll', helpBelow(EXAMPLES))
    .action(async (url: string, flags: WhyFlags) => {
      const client = apiClientOf(shell, flags);
      const { job, answer } =
        client === null
          ? await withJobs(shell, flags.dataDir, (local) => explain(local, url, flags.job))
          : await explainThere(client, url, flags.job);
      shell.stdout.write(flags.json ? `${JSON.stringify(answer)}\n` : told(screenOf(shell), job, answer));
    });
};

/** A job as the first line of the answer names it. */
type NamedJob = Pick<Job, 'id' | 'kind' | 'status'>;

async function explainThere(
  client: ApiClient,
  url: string,
  id: string | undefined,
): Promise<{ job: NamedJob; answer: WhyAnswer }> {
  const { jobs } = createApiBackend(client);
  const candidates = id === undefined ? await jobs.list({ limit: MOST_ASKED }) : [await jobs.get(id)];
  let newest: { job: NamedJob; answer: WhyAnswer } | null = null;
  for (const job of candidates) {
    const path = `/v1/jobs/${job.id}/why?url=${urlPart(url)}`;
    const answer = await client.call<WhyAnswer>('GET', path);
    if (answer.state !== 'unseen') return { job, answer };
    newest ??= { job, answer };
  }
  if (newest === null) throw new ScrapifieError('NOT_FOUND', 'There are no jobs.');
  return newest;
}

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

function told(screen: Screen, { id, kind, status }: NamedJob, { url, state, sentences }: WhyAnswer): string {
  const where = `${state} in the ${kind} ${id} (${status.replaceAll('_', ' ')})`;
  return storyOf(screen, [url, where], sentences);
}
