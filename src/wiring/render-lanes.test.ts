import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { settingsSchema } from '../core/config/settings.ts';
import { createLogger } from '../core/observe/logger.ts';
import { EXECUTABLE } from '../fetch/browser/browser.fixture.ts';
import { renderLimitsFor } from '../fetch/browser/pool/memory-watch.ts';
import { treePids } from '../fetch/browser/pool/process-tree.ts';
import type { Engine } from '../fetch/engine.ts';
import { codeOfFailure, get, serve, textOf } from '../fetch/http/loopback.fixture.ts';
import { isRoot } from '../fetch/render-process/confinement.ts';
import type { ProcessLimits } from '../fetch/render-process/render-process.ts';
import { confineBrowsers, openRenderLanes, type RenderLanes } from './render-lanes.ts';

const LIMIT_MS = 90_000;
const UNTIL = { timeout: 60_000, interval: 20 };

interface Opened {
  readonly lanes: RenderLanes;
  readonly engine: Engine;
  readonly log: readonly string[];
}

function open(processLimits: Partial<ProcessLimits> = {}): Opened {
  const log: string[] = [];
  const settings = settingsSchema.parse({ allowPrivate: true, captchaKey: 'a-secret-of-the-solver' });
  const lanes = openRenderLanes({
    settings,
    confine: (path) => confineBrowsers(path, settings),
    limits: renderLimitsFor({ memoryBytes: 8e9, cores: 1 }),
    logger: createLogger({ level: 'info', destination: { write: (line) => void log.push(line) } }),
    executablePath: async () => EXECUTABLE,
    relocate: async () => null,
    onLaunched: () => undefined,
    onHealth: () => undefined,
    processLimits,
  });
  onTestFinished(() => lanes.close());
  const engine: Engine = {
    name: 'browser',
    fetch: (request) => lanes.fetch('browser', request),
    close: () => lanes.close(),
  };
  return { lanes, engine, log };
}

/** A site whose pages under /slow wait for a picture that comes only when `go` is called. */
async function site() {
  const waiting: (() => void)[] = [];
  let isOpen = false;
  const { origin } = await serve((request, response) => {
    if (request.url === '/held') {
      const answer = () => response.setHeader('content-type', 'image/png').end();
      if (isOpen) answer();
      else waiting.push(answer);
      return;
    }
    const picture = request.url?.startsWith('/slow') === true ? '<img src="/held">' : '';
    response.setHeader('content-type', 'text/html');
    response.end(
      `${picture}<b></b><script>document.querySelector('b').append(${JSON.stringify(request.url)})</script>`,
    );
  });
  return {
    origin,
    waiting: () => waiting.length,
    go() {
      isOpen = true;
      for (const answer of waiting) answer();
    },
  };
}

const environmentOf = (pid: number) => readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
const userOf = async (pid: number) =>
  Number(/^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'latin1').catch(() => ''))?.[1]);
const firstPid = ({ pids }: RenderLanes) => pids[0] ?? 0;

test(
  'a render process that is killed costs the one page under way, and the next page has a new process',
  async () => {
    const { lanes, engine, log } = open();
    const { origin, waiting, go } = await site();
    const failing = codeOfFailure(get(engine, `${origin}/slow`));
    await vi.waitFor(() => expect(waiting()).toBe(1), UNTIL);
    const pid = firstPid(lanes);
    const below = await treePids(pid);
    expect(below.length).toBeGreaterThan(2);
    process.kill(pid, 'SIGKILL');
    expect(await failing).toBe('BROWSER_CRASHED');
    go();
    expect(textOf(await get(engine, `${origin}/after`))).toContain('<b>/after</b>');
    expect(firstPid(lanes)).not.toBe(pid);
    expect(log.join()).toContain('render process lost');
    // No process of the lost one is left.
    for (const each of below)
      await vi.waitFor(async () => expect([each, await treePids(each)]).toEqual([each, []]), UNTIL);
  },
  LIMIT_MS,
);

test(
  'pages beside each other are not charged when it is killed, and each is shown alone afterwards',
  async () => {
    const { lanes, engine } = open();
    const { origin, waiting, go } = await site();
    const urls = [1, 2, 3].map((number) => `${origin}/slow/${number}`);
    const failing = urls.map((url) => codeOfFailure(get(engine, url)));
    await vi.waitFor(() => expect(waiting()).toBe(3), UNTIL);
    process.kill(firstPid(lanes), 'SIGKILL');
    expect(await Promise.all(failing)).toEqual(['BROWSER_LOST', 'BROWSER_LOST', 'BROWSER_LOST']);
    expect(lanes.pids).toEqual([]);
    go();
    const shown = await Promise.all(urls.map((url) => get(engine, url, { runsAlone: true })));
    expect(shown.map((each) => /<b>(.*)<\/b>/.exec(textOf(each))?.[1])).toEqual([
      '/slow/1',
      '/slow/2',
      '/slow/3',
    ]);
    // All of them in the process for single pages; that for all has not been started for them.
    expect(lanes.pids).toHaveLength(1);
    expect(lanes.figures()?.replaced).toMatchObject({ ended: 1 });
  },
  LIMIT_MS,
);

test(
  'one that is stopped gives no sign of life and is replaced',
  async () => {
    const { lanes, engine, log } = open({ lookEveryMs: 200 });
    const { origin, waiting, go } = await site();
    const failing = codeOfFailure(get(engine, `${origin}/slow`, { timeoutMs: 80_000 }));
    await vi.waitFor(() => expect(waiting()).toBe(1), UNTIL);
    process.kill(firstPid(lanes), 'SIGSTOP');
    expect(await failing).toBe('BROWSER_CRASHED');
    expect(log.join()).toContain('no sign of life');
    go();
    expect(textOf(await get(engine, `${origin}/after`))).toContain('<b>/after</b>');
  },
  LIMIT_MS,
);

test(
  'one that holds too much memory is ended, and so is one whose heap is full',
  async () => {
    const { origin } = await site();
    const small = open({ maxBytes: 10_000_000, lookEveryMs: 100 });
    expect(await codeOfFailure(get(small.engine, `${origin}/slow`))).toMatch(
      /^BROWSER_(CRASHED|UNAVAILABLE)$/,
    );
    expect(small.log.join()).toContain('MB of memory');
    const tight = open({ maxHeapMegabytes: 8 });
    expect(await codeOfFailure(get(tight.engine, `${origin}/slow`))).toMatch(
      /^BROWSER_(CRASHED|UNAVAILABLE)$/,
    );
    expect(tight.log.join()).toContain('out of memory');
  },
  LIMIT_MS,
);

test(
  'neither the process nor its browser sees secrets of the server, or runs as root',
  async () => {
    vi.stubEnv('SCRAPIFIE_VAULT_KEY', 'a-secret-of-the-vault');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret-of-the-cloud');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { lanes, engine } = open();
    const { origin, waiting, go } = await site();
    const showing = get(engine, `${origin}/slow`);
    await vi.waitFor(() => expect(waiting()).toBe(1), UNTIL);
    const pids = await treePids(firstPid(lanes));
    const seen = (await Promise.all(pids.map(environmentOf))).filter((text) => text !== '');
    expect(seen.length).toBeGreaterThan(2);
    for (const environment of seen) expect(environment).not.toMatch(/SCRAPIFIE_|a-secret|AWS_/);
    if (isRoot()) for (const pid of pids) expect([pid, await userOf(pid)]).not.toEqual([pid, 0]);
    go();
    expect((await showing).statusCode).toBe(200);
  },
  LIMIT_MS,
);
