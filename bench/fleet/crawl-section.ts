import type { Bar, Table } from '../part.ts';
import { figure, spread } from '../report.ts';
import { ratios, type Sample, sampleOf } from '../sample.ts';
import type { Crawled, Standing } from './contestants.ts';
import { KINDS, type Usage } from './meter.ts';
import type { Section } from './section.ts';

export const LAYOUTS = ['1 host', '8 hosts'] as const;

/** What one contestant did with the pages on one host, or spread over eight, once per round. */
export interface Runs {
  readonly name: string;
  readonly layout: (typeof LAYOUTS)[number];
  readonly runs: Crawled[];
}

type Figure = Exclude<keyof Usage, 'cpuSeconds'>;

const perPage = ({ runs }: Runs, name: Figure): Sample => sampleOf(runs.map((run) => run[name] / run.pages));
/** Without what would have gone on anyway. */
const addedPerPage = ({ runs }: Runs, name: keyof Standing): Sample =>
  sampleOf(runs.map((run) => (run[name] - run.standing[name] * run.seconds) / run.pages));
const perIdleSecond = ({ runs }: Runs, name: keyof Standing): Sample =>
  sampleOf(runs.map((run) => run.standing[name]));
const speeds = ({ runs }: Runs): number[] => runs.map(({ pages, seconds }) => pages / seconds);
const isFleet = ({ name }: Runs) => name.startsWith('fleet');
const isEmbedded = ({ name }: Runs) => name === 'one process';
const titleOf = ({ name, layout }: Runs) => `${name}, ${layout}`;

export function crawlSection(all: readonly Runs[], pages: number): Section {
  const fleets = all.filter(isFleet);
  const worst = (name: keyof Standing): Sample =>
    fleets.map((runs) => perPage(runs, name)).reduce((most, one) => (one.median > most.median ? one : most));
  const bar = (claim: string, sample: Sample, atMost: number): Bar => ({
    claim,
    measured: sample.median,
    atMost,
    unit: '',
    spread: sample,
  });
  return {
    tables: [speedTable(all, pages), standingTable(fleets), cpuTable(all)],
    bars: [
      bar('Fleet: Redis commands per page', worst('redisCommands'), 0.1),
      bar('Fleet: statements per page', worst('statements'), 0.2),
      {
        claim: 'Fleet: pages missing, failed or fetched twice, over all rounds',
        measured: fleets.flatMap(({ runs }) => runs).reduce((sum, { faults }) => sum + faults, 0),
        atMost: 0,
        unit: '',
      },
    ],
    notes: [
      'Every contestant begins with empty places and crawls a small site over eight hosts first. The bars are about the fleet and layout that did worst.',
      'A host has one owner, so a second worker can only help where there are several hosts; and all of it, the site included, shares the cores of one machine.',
      'Commands, statements and requests “/page” are all there were during the crawl, those of timers and health checks (every process, every three seconds) included, so a slow machine shows more of them; “added” leaves out what the same fleet sends while idle. The client looks at the job four times a second, which counts in both.',
      'One job per URL: the queue, undici and htmlparser2; the title is the job’s result, nothing else is stored. “New links”: a process remembers what it has added itself.',
      'CPU of the proxy is that of the process that measures, in which it runs.',
    ],
    data: all,
  };
}

function speedTable(all: readonly Runs[], pages: number): Table {
  const baseOf = ({ layout }: Runs) =>
    all.filter((runs) => isEmbedded(runs) && runs.layout === layout).flatMap(speeds);
  return {
    columns: [
      `${pages.toLocaleString('en')} pages`,
      'pages/s',
      'over one process',
      'Redis commands/page',
      'with those in scripts',
      'statements/page',
      'S3 requests/page',
      'WAL KB/page',
      'database KB/page',
      'faults',
    ],
    rows: all.map((runs) => [
      titleOf(runs),
      spread(sampleOf(speeds(runs))),
      isEmbedded(runs) ? '' : spread(sampleOf(ratios(speeds(runs), baseOf(runs)))),
      isEmbedded(runs) ? '' : spread(perPage(runs, 'redisCommands')),
      isEmbedded(runs) ? '' : spread(perPage(runs, 'redisSteps')),
      isFleet(runs) ? spread(perPage(runs, 'statements')) : '',
      isFleet(runs) ? spread(perPage(runs, 's3Requests')) : '',
      isFleet(runs) ? figure(perPage(runs, 'walBytes').median / 1e3) : '',
      isFleet(runs) ? figure(perPage(runs, 'databaseBytes').median / 1e3) : '',
      String(runs.runs.reduce((sum, { faults }) => sum + faults, 0)),
    ]),
  };
}

function standingTable(fleets: readonly Runs[]): Table {
  const names = ['redisCommands', 'statements', 's3Requests'] as const;
  return {
    columns: [
      'fleet',
      ...['Redis commands', 'statements', 'S3 requests'].flatMap((what) => [
        `${what} added/page`,
        `while idle/s`,
      ]),
    ],
    rows: fleets.map((runs) => [
      titleOf(runs),
      ...names.flatMap((name) => [
        spread(addedPerPage(runs, name)),
        figure(perIdleSecond(runs, name).median),
      ]),
    ]),
  };
}

function cpuTable(all: readonly Runs[]): Table {
  return {
    columns: ['CPU ms/page', ...KINDS],
    rows: all.map((runs) => [
      titleOf(runs),
      ...KINDS.map((kind) =>
        figure(sampleOf(runs.runs.map((run) => (run.cpuSeconds[kind] * 1e3) / run.pages)).median),
      ),
    ]),
  };
}
