// Runs the scenarios with this client and prints one line for each: node sdk/typescript/scenarios.ts
import { readFileSync } from 'node:fs';
import { mismatch } from '../scenarios/match.ts';
import type { Scenario, Step } from '../scenarios/scenario.ts';
import { ApiError, Scrapifie, ScrapifieError, verifyWebhook } from './src/index.ts';

const { SCRAPIFIE_URL = '', SCRAPIFIE_KEY = '', SITE_URL = '', SCENARIOS = '' } = process.env;
const client = new Scrapifie({
  baseUrl: SCRAPIFIE_URL,
  apiKey: SCRAPIFIE_KEY,
  retries: { baseDelayMs: 20, maxRetryAfterMs: 3_000 },
  maxAnswerBytes: 4 * 1024 ** 2,
});
const EVENTUAL_MS = 20_000;
const LOOK_MS = 200;
type Saved = Record<string, unknown>;

async function run({ faults, steps }: Scenario): Promise<string | null> {
  const saved: Saved = {};
  await setFaults(faults ?? []);
  for (const [index, step] of steps.entries()) {
    if (step.faults !== undefined) await setFaults(step.faults);
    const problem = await checkUntil(filled(step, saved), saved);
    if (problem !== null) return `step ${index + 1} (${step.call}): ${problem}`;
  }
  await setFaults([]);
  return null;
}

/** Background work of the server is waited for. */
async function checkUntil(step: Step, saved: Saved): Promise<string | null> {
  const endAt = performance.now() + (step.isEventual === true ? EVENTUAL_MS : 0);
  for (;;) {
    const problem = await check(step, saved);
    if (problem === null || performance.now() >= endAt) return problem;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function check(step: Step, saved: Saved): Promise<string | null> {
  let answer: unknown;
  try {
    answer = await make(step);
  } catch (error) {
    if (!(error instanceof ScrapifieError) || step.error === undefined) throw error;
    return mismatch(
      { code: error.code, status: error instanceof ApiError ? error.status : null },
      step.error,
      'error',
    );
  }
  if (step.error !== undefined) return 'it succeeded';
  if (step.save !== undefined) saved[step.save] = answer;
  return mismatch(answer ?? null, step.expect ?? {});
}

async function make({
  call,
  id = '',
  url,
  against,
  text,
  request = {},
  query,
  idempotencyKey,
}: Step): Promise<unknown> {
  if (call === 'verifyWebhook') return verify(request);
  const [group, name] = call.includes('.') ? call.split('.') : [null, call];
  const owner = (group === null ? client : client[group as 'jobs']) as unknown as Record<
    string,
    (...values: unknown[]) => unknown
  >;
  const values = id === '' ? [] : [id];
  if (url !== undefined) values.push(call === 'snapshots.list' ? ({ url } as never) : url);
  if (against !== undefined) values.push({ against, ...query } as never);
  if (text !== undefined) values.push({ q: text } as never);
  const hasRequest =
    Object.keys(request).length > 0 || ['scrape', 'crawl', 'batch', 'map', 'extract'].includes(call);
  if (hasRequest) values.push(request as never);
  if (query !== undefined && against === undefined) values.push(query as never);
  if (idempotencyKey !== undefined) values.push({ idempotencyKey } as never);
  const answer = owner[name as string]?.(...values);
  if (answer === undefined) throw new Error(`There is no call ${call}.`);
  if (call === 'exports.download') return textOf((await answer) as ReadableStream<Uint8Array>);
  return isIterable(answer) ? collected(answer) : answer;
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

const textOf = (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text();

async function collected(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function verify({ body, headers, secret, now }: Readonly<Record<string, unknown>>): Promise<unknown> {
  return verifyWebhook(String(body), headers as Record<string, string>, String(secret), {
    now: Number(now) * 1_000,
  });
}

async function setFaults(faults: readonly string[]): Promise<void> {
  await fetch(`${SCRAPIFIE_URL}/__faults`, { method: 'PUT', body: JSON.stringify(faults) });
}

function filled<T>(value: T, saved: Saved): T {
  const text = JSON.stringify(value).replaceAll(/\{(site|[a-z]+\.[A-Za-z.]+)\}/g, (_, path: string) => {
    if (path === 'site') return SITE_URL;
    const found = path.split('.').reduce<unknown>((at, name) => (at as Saved | undefined)?.[name], saved);
    return JSON.stringify(found).slice(1, -1);
  });
  return JSON.parse(text) as T;
}

for (const scenario of JSON.parse(readFileSync(SCENARIOS, 'utf8')) as Scenario[]) {
  const message = await run(scenario).catch((error) => String(error));
  process.stdout.write(`${JSON.stringify({ name: scenario.name, ok: message === null, message })}\n`);
}
