import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from './api/server.ts';
import { runChild } from './child-run.ts';
import { watchLive } from './dashboard/live.ts';
import { scrollThrough } from './dashboard/scroll.ts';
import type { BenchOptions, Part } from './part.ts';
import { figure, megabytes, spread } from './report.ts';
import { sampleOf } from './sample.ts';

const FILL = fileURLToPath(new URL('./dashboard/large-job.ts', import.meta.url));
const BUILT = fileURLToPath(new URL('../dashboard/dist/index.html', import.meta.url));
const FULL_PAGES = 1_000_000;
const QUICK_PAGES = 20_000;
const FULL_EVENTS = 4_000;
const QUICK_EVENTS = 1_000;
const LEAST_EVENTS = 100;
const MOST_INTERACTIVE_MS = 1_000;
const LEAST_FRAMES = 50;
/** What a frame may cost the page's main thread for so many frames a second. */
const MOST_FRAME_MS = 1_000 / LEAST_FRAMES;
const MOST_GROWN_MB = 10;
/** The first stretch of the way fills the bounded number of blocks that the list keeps. */
const SETTLED_AFTER = 1;

/** The dashboard: its first load, live events, and a job with very many pages, which pass by from the first to the last. */
export const dashboard: Part = {
  name: 'dashboard',
  async run({ isQuick, scratch, say }: BenchOptions) {
    if (!existsSync(BUILT)) throw new Error('The dashboard is not built: make dashboard.');
    const pages = isQuick ? QUICK_PAGES : FULL_PAGES;
    const filled = await runChild(process.execPath, [FILL, join(scratch, 'data'), String(pages)]);
    say(`a job of ${figure(pages)} pages filled in ${figure(filled.wallSeconds)} s`);
    const server = await startServer(scratch, 'large.example');
    const figures = await scrollThrough(server, String(filled.answer.id), pages).finally(() =>
      server.close(),
    );
    // A server of its own, without the large job, whose site may be crawled as fast as it answers.
    const liveServer = await startServer(join(scratch, 'live'), '127.0.0.1');
    const live = await watchLive(liveServer, isQuick ? QUICK_EVENTS : FULL_EVENTS).finally(() =>
      liveServer.close(),
    );
    const interactive = sampleOf(live.interactiveMs);
    const longTasks = live.longTasksMs.length;
    say(
      `interactive after ${spread(interactive)} ms; ${figure(live.eventsPerSecond)} events/s for ${figure(live.seconds)} s with ${longTasks} long tasks`,
    );
    const { framesPerSecond, heapBytes, nodes, calls, largestCall, seconds, longestFrameMs } = figures;
    const frames = sampleOf(framesPerSecond);
    const cpu = sampleOf(figures.cpuPerFrameMs);
    const settled = heapBytes.slice(SETTLED_AFTER);
    const grownMb = megabytes((settled.at(-1) ?? 0) - (settled[0] ?? 0));
    say(
      `${spread(frames)} frames/s of ${spread(cpu)} ms of processor time, heap ${grownMb.toFixed(1)} MB more after ${figure(pages)} rows`,
    );
    return {
      title: 'Dashboard',
      about: `The list of the ${figure(pages)} pages of a job, scrolled in Chromium from its first row to its last, 1,400 pixels a frame.`,
      tables: [
        {
          columns: ['after rows', 'frames/s before', 'ms a frame', 'heap MB', 'nodes'],
          rows: heapBytes.map((bytes, stretch) => [
            figure(Math.round((pages * stretch) / (heapBytes.length - 1))),
            stretch === 0 ? '' : (framesPerSecond[stretch - 1] ?? 0).toFixed(1),
            stretch === 0 ? '' : (figures.cpuPerFrameMs[stretch - 1] ?? 0).toFixed(1),
            megabytes(bytes).toFixed(1),
            figure(nodes[stretch] ?? 0),
          ]),
        },
      ],
      bars: [
        {
          claim: 'frames per second while scrolling, at the median of twenty stretches',
          measured: frames.median,
          spread: frames,
          atLeast: LEAST_FRAMES,
          unit: 'frames/s',
        },
        {
          claim: 'processor time of the main thread for a frame',
          measured: cpu.median,
          spread: cpu,
          atMost: MOST_FRAME_MS,
          unit: 'ms',
        },
        {
          claim: 'growth of the JavaScript heap from the first twentieth to the end',
          measured: grownMb,
          atMost: MOST_GROWN_MB,
          unit: 'MB',
        },
        {
          claim: 'first load of Home until it is interactive, on loopback, without a cache',
          measured: interactive.median,
          spread: interactive,
          atMost: MOST_INTERACTIVE_MS,
          unit: 'ms',
        },
        {
          claim: 'live events a second on the page of a running crawl',
          measured: live.eventsPerSecond,
          atLeast: LEAST_EVENTS,
          unit: 'events/s',
        },
        {
          claim: 'tasks of the main thread over 50 ms while they came in',
          measured: longTasks,
          atMost: 0,
          unit: 'tasks',
        },
      ],
      notes: [
        `A first load costs ${spread(sampleOf(live.loadCpuMs))} ms of processor time of the main thread; live events for ${figure(live.seconds)} s cost ${figure(live.cpuMsPerSecond)} ms a second.`,
        `${figure(calls)} calls by cursor, of ${figure(largestCall)} rows at most, in ${figure(Math.round(seconds))} s; the longest frame took ${figure(Math.round(longestFrameMs))} ms.`,
        'The heap is measured after a collection of garbage. Rows that are not loaded in time are drawn as grey bars until they come.',
      ],
      data: { ...figures, live },
    };
  },
};
