import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { crawlMeasured, type MeasuredCrawl } from './api/measured-crawl.ts';
import { type MeasuredServer, startServer } from './api/server.ts';
import { startStaticSite } from './crawl/static-site.ts';
import type { BenchOptions, Part, PartResult } from './part.ts';
import { figure, spread } from './report.ts';
import { ratios, rotated, sampleOf } from './sample.ts';

const FULL = { pages: 4_000, rounds: 9 };
const QUICK = { pages: 400, rounds: 1 };
const SHARE = 0.01;
/** The caller has its crawl traced. */
const SAMPLED = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
const WAYS = ['off', 'one page in a hundred', 'every page'] as const;
type Way = (typeof WAYS)[number];
type Runs = Readonly<Record<Way, MeasuredCrawl[]>>;

/** Takes spans as a receiver does, and forgets them. */
interface Receiver {
  readonly url: string;
  readonly bytes: () => number;
  close(): Promise<void>;
}

/** What spans cost a crawl: one site, crawled in turns by three servers, without spans, with a few, and with all of them. */
export const tracing: Part = {
  name: 'tracing',
  async run(options) {
    const { pages, rounds } = options.isQuick ? QUICK : FULL;
    const site = await startStaticSite(pages);
    const receiver = await startReceiver();
    const servers: MeasuredServer[] = [];
    const runs: Runs = { off: [], 'one page in a hundred': [], 'every page': [] };
    try {
      const host = new URL(site.url).host;
      for (const way of WAYS) {
        const folder = join(options.scratch, way.replaceAll(' ', '-'));
        servers.push(await startServer(folder, host, settingsOf(way, pages, receiver.url)));
      }
      // Threads that are started, and code that is compiled, by a first crawl are not what it costs.
      for (const server of servers) await crawlMeasured(server, site.url, {}, SAMPLED);
      for (let round = 0; round < rounds; round += 1) {
        for (const way of rotated(WAYS, round)) {
          const server = servers[WAYS.indexOf(way)] as MeasuredServer;
          runs[way].push(await crawlMeasured(server, site.url, {}, SAMPLED));
        }
        sayRound(round, runs, options);
      }
    } finally {
      for (const server of servers) await server.close();
      await receiver.close();
      await site.close();
    }
    return resultOf(pages, rounds, runs, receiver.bytes());
  },
};

function settingsOf(way: Way, pages: number, receiver: string): Record<string, string> {
  if (way === 'off') return {};
  const attempts = way === 'every page' ? 1_000_000 : Math.round(pages * SHARE);
  return {
    SCRAPIFIE_OTEL_URL: receiver,
    SCRAPIFIE_TRACE_RATIO: String(SHARE),
    SCRAPIFIE_TRACE_ATTEMPTS: String(attempts),
    SCRAPIFIE_TRACE_QUEUE: '65536',
  };
}

async function startReceiver(): Promise<Receiver> {
  let bytes = 0;
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => response.writeHead(200).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytes: () => bytes,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * The CPU time of the cheapest crawl of each way beside that of the cheapest without spans: whatever else the machine does
 * only adds to a crawl, and adds more than spans cost.
 */
function leastShare(way: Way, runs: Runs): number {
  const least = (each: Way) => Math.min(...runs[each].map(({ cpuSeconds }) => cpuSeconds));
  return least(way) / least('off');
}

/** CPU time of crawls with spans, as shares of those without in the same round. */
const shares = (way: Way, runs: Runs) => {
  const values = (each: Way) => runs[each].map(({ cpuSeconds }) => cpuSeconds);
  return sampleOf(ratios(values(way), values('off')));
};

function sayRound(round: number, runs: Runs, { say }: BenchOptions): void {
  const words = WAYS.map((way) => {
    const run = runs[way].at(-1);
    return run === undefined
      ? ''
      : `${way} ${figure(run.cpuSeconds)} s of CPU, ${figure(run.pagesPerSecond)} pages/s`;
  });
  say(`round ${round + 1}: ${words.join('; ')}`);
}

function resultOf(pages: number, rounds: number, runs: Runs, bytes: number): PartResult {
  return {
    title: 'Spans',
    about:
      `A static site of ${pages.toLocaleString('en')} pages is crawled by three servers in turns: without a receiver of spans, with spans of ` +
      `one page in a hundred, and with spans of every page; rounds: ${rounds}.`,
    tables: [
      {
        columns: ['spans', 'pages/s', 'CPU s', 'the least beside none, ×', 'in the same round, ×'],
        rows: WAYS.map((way) => [
          way,
          spread(sampleOf(runs[way].map((run) => run.pagesPerSecond))),
          spread(sampleOf(runs[way].map((run) => run.cpuSeconds))),
          way === 'off' ? '' : figure(leastShare(way, runs)),
          way === 'off' ? '' : spread(shares(way, runs)),
        ]),
      },
    ],
    bars: [
      {
        claim: 'CPU time of a crawl with spans of one page in a hundred, over that without',
        measured: leastShare('one page in a hundred', runs),
        atMost: 1.05,
        unit: '×',
      },
    ],
    notes: [
      'CPU seconds are those of the server with all its threads, until it has nothing more to do.',
      'The bar is about the cheapest crawl of each kind: what else a machine does only adds to a crawl, and adds more than spans cost.',
      `The receiver got ${figure(bytes / 1e6)} MB in all.`,
    ],
    data: runs,
  };
}
