import { Option } from 'commander';
import { type WhyAnswer, whyInNewest, whyOf } from '../../capabilities/jobs/results/why.ts';
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
  const asked = `why?url=${urlPart(url)}`;
  if (id === undefined) {
    const answer = await client.call<WhyAnswer>('GET', `/v1/${asked}`);
    return { job: await jobs.get(answer.jobId), answer };
  }
  const job = await jobs.get(id);
  return { job, answer: await client.call<WhyAnswer>('GET', `/v1/jobs/${job.id}/${asked}`) };
}

async function explain(
  { store, jobs, account }: LocalJobs,
  url: string,
  id: string | undefined,
): Promise<{ job: Job; answer: WhyAnswer }> {
  if (id === undefined) return whyInNewest(store, account, url);
  const job = await jobNamed(id, jobs, account);
  return { job, answer: await whyOf(store, job, url) };
}

function told(screen: Screen, { id, kind, status }: NamedJob, { url, state, sentences }: WhyAnswer): string {
  const where = `${state} in the ${kind} ${id} (${status.replaceAll('_', ' ')})`;
  return storyOf(screen, [url, where], sentences);
}
