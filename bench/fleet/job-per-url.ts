// A crawler as one builds it first on BullMQ: every URL is a job, whose id is made from the URL so that none is done
// twice. It stores nothing but what the queue keeps. usage: node job-per-url.ts '{"redisUrl":…}'
import { hash } from 'node:crypto';
import { type JobsOptions, Queue, Worker } from 'bullmq';
import { Parser } from 'htmlparser2';
import { Redis } from 'ioredis';
import { Agent } from 'undici';

export interface JobPerUrl {
  readonly redisUrl: string;
  readonly concurrency: number;
  /** Whether links that this process has added before are added again; the queue folds them either way. */
  readonly addsKnown: boolean;
  /** Home pages of groups of sites, crawled one after the other. */
  readonly groups: readonly (readonly string[])[];
  /** So many jobs are put into the queue instead, and left there. */
  readonly held: number;
}

export interface JobPerUrlAnswer {
  readonly crawls: readonly JobPerUrlCrawl[];
  /** Memory of Redis for one job that waits; 0 when none was held. */
  readonly bytesPerJob: number;
}

export interface JobPerUrlCrawl {
  readonly pages: number;
  readonly errors: number;
  readonly seconds: number;
  readonly redisCommands: number;
  readonly redisSteps: number;
  readonly redisBytes: number;
  readonly cpuSeconds: number;
  readonly redisCpuSeconds: number;
}

interface UrlData {
  readonly url: string;
}

/** An id is known for as long as its job is kept, and so they all are. */
const KEPT: JobsOptions = { removeOnComplete: false, removeOnFail: false };
const ADDED_AT_ONCE = 1_000;
const LOOK_MS = 50;

let commands = 0;
const { sendCommand } = Redis.prototype;
Redis.prototype.sendCommand = function counted(...sent) {
  commands += 1;
  return sendCommand.apply(this, sent);
};

const { redisUrl, concurrency, addsKnown, groups, held } = JSON.parse(process.argv[2] ?? '') as JobPerUrl;
const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
const agent = new Agent({ connections: concurrency });

const jobOf = (url: string) => ({
  name: 'page',
  data: { url } satisfies UrlData,
  opts: { ...KEPT, jobId: hash('sha256', url).slice(0, 32) },
});

async function redisNumber(...names: string[]): Promise<number> {
  const text = await connection.info();
  return names.reduce((sum, name) => sum + Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1]), 0);
}

const readings = async () => ({
  redisSteps: await redisNumber('total_commands_processed'),
  redisBytes: await redisNumber('total_net_input_bytes'),
  redisCpuSeconds: await redisNumber('used_cpu_sys', 'used_cpu_user'),
  cpuSeconds: Object.values(process.cpuUsage()).reduce((sum, micros) => sum + micros / 1e6, 0),
  redisCommands: commands,
});

function linksIn(html: string, base: string): { links: string[]; title: string } {
  const links = new Set<string>();
  const { origin } = new URL(base);
  let title = '';
  let isTitle = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'title') isTitle = true;
      if (name !== 'a' || attributes.href === undefined) return;
      const url = new URL(attributes.href, base);
      url.hash = '';
      if (url.origin === origin) links.add(url.href);
    },
    ontext(text) {
      if (isTitle) title += text;
    },
    onclosetag(name) {
      if (name === 'title') isTitle = false;
    },
  });
  parser.end(html);
  return { links: [...links], title };
}

async function crawl(seeds: readonly string[], name: string): Promise<JobPerUrlCrawl> {
  const queue = new Queue<UrlData>(name, { connection });
  const added = new Set(seeds);
  let errors = 0;
  const before = await readings();
  const startedAt = performance.now();
  await queue.addBulk(seeds.map(jobOf));

  const worker = new Worker<UrlData, string>(
    name,
    async ({ data: { url } }) => {
      const { origin } = new URL(url);
      const { statusCode, body } = await agent.request({
        origin,
        method: 'GET',
        path: url.slice(origin.length),
      });
      const html = await body.text();
      if (statusCode !== 200) errors += 1;
      const { links, title } = linksIn(html, url);
      const wanted = addsKnown ? links : links.filter((link) => !added.has(link));
      for (const link of wanted) added.add(link);
      if (wanted.length > 0) await queue.addBulk(wanted.map(jobOf));
      return title;
    },
    { connection, concurrency },
  );
  worker.on('error', () => undefined);
  let endedAt = startedAt;
  worker.on('completed', () => {
    endedAt = performance.now();
  });
  const open = async () =>
    Object.values(await queue.getJobCounts('wait', 'active')).reduce((sum, count) => sum + count, 0);
  while ((await open()) > 0) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  const after = await readings();
  const counts = await queue.getJobCounts('completed', 'failed');
  await worker.close();
  await queue.close();
  return {
    pages: (counts.completed ?? 0) - errors,
    errors: errors + (counts.failed ?? 0),
    seconds: (endedAt - startedAt) / 1_000,
    redisCommands: after.redisCommands - before.redisCommands,
    redisSteps: after.redisSteps - before.redisSteps,
    redisBytes: after.redisBytes - before.redisBytes,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    redisCpuSeconds: after.redisCpuSeconds - before.redisCpuSeconds,
  };
}

async function hold(count: number): Promise<number> {
  const queue = new Queue<UrlData>('held', { connection });
  await queue.waitUntilReady();
  const before = await redisNumber('used_memory');
  for (let from = 0; from < count; from += ADDED_AT_ONCE) {
    const urls = Array.from({ length: Math.min(ADDED_AT_ONCE, count - from) }, (_, at) => {
      const page = from + at;
      return `https://www.site-${page % 10_000}.example/products/some-words-of-a-title-${page}`;
    });
    await queue.addBulk(urls.map(jobOf));
  }
  const bytes = (await redisNumber('used_memory')) - before;
  await queue.close();
  return bytes / count;
}

const crawls: JobPerUrlCrawl[] = [];
for (const [at, seeds] of groups.entries()) crawls.push(await crawl(seeds, `group-${at}`));
const bytesPerJob = held > 0 ? await hold(held) : 0;
connection.disconnect();
await agent.close();
process.stdout.write(`${JSON.stringify({ crawls, bytesPerJob } satisfies JobPerUrlAnswer)}\n`);
