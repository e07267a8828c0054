import type { SampleRequest } from '../../../kit/sample-forms.ts';

export type SaveKind = 'job' | 'schedule' | 'monitor';
type Fields = Readonly<Record<string, unknown>>;

export interface SaveValues {
  readonly name: string;
  /** How often, such as `6h`, or a line of cron. */
  readonly times: string;
  /** The URLs, each in a line of its own. */
  readonly urls: string;
}

/** Fields of a scrape that a batch has beside `options`. */
const OF_THE_JOB = ['snapshots', 'search', 'lake', 'exports', 'retention', 'webhook'];
/** Fields of a scrape that a monitor does not take: it fetches anew each time, by GET. */
const NOT_OF_MONITORS = [...OF_THE_JOB, 'method', 'body', 'maxAge'];

const pick = (fields: Fields, isWanted: (name: string) => boolean): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => isWanted(name)));

export const urlsOf = (text: string): readonly string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];

/** Five or six words of digits and signs are a line of cron; everything else is an interval. */
const timesOf = (text: string): Fields => {
  const times = text.trim();
  return /^\S+(?:\s+\S+){4,5}$/.test(times) || times.startsWith('@') ? { cron: times } : { every: times };
};

/** The request that saves what the playground has tried. */
export function savedRequest(
  kind: SaveKind,
  body: Fields & { readonly url: string },
  values: SaveValues,
): SampleRequest {
  const { url, async: _, ...rest } = body;
  const urls = urlsOf(values.urls);
  const options = pick(rest, (name) => !OF_THE_JOB.includes(name));
  const ofJob = pick(rest, (name) => OF_THE_JOB.includes(name));
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (kind === 'job') return { method: 'POST', path: '/v1/batch', body: { urls, options, ...ofJob } };
  if (kind === 'schedule') {
    const job =
      urls.length === 1
        ? { kind: 'scrape', url: urls[0] ?? url, ...rest }
        : { kind: 'batch', urls, options, ...ofJob };
    return {
      method: 'POST',
      path: '/v1/schedules',
      body: { name: values.name, ...timesOf(values.times), timeZone, job },
    };
  }
  const watched = pick(options, (name) => !NOT_OF_MONITORS.includes(name));
  const schedule = { ...timesOf(values.times), timeZone };
  return {
    method: 'POST',
    path: '/v1/monitors',
    body: {
      name: values.name,
      urls,
      schedule,
      options: watched,
      ...(body.extract != null && { watch: { fields: 'all' } }),
    },
  };
}
