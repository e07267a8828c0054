import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createCallSeal } from '../../src/capabilities/sessions/vault.ts';
import { isScrapifieError } from '../../src/core/errors/scrapifie-error.ts';
import type { Blobs } from '../../src/core/ports/blobs.ts';
import { type BlobsS3, createBlobsS3 } from '../../src/drivers/blobs-s3/blobs-s3.ts';
import { createQueueBullmq, type QueueBullmq } from '../../src/drivers/queue-bullmq/queue-bullmq.ts';
import type { FetchRequest, FetchResponse } from '../../src/fetch/engine.ts';
import { createRemoteEngine, type RemoteEngine } from '../../src/fetch/remote/remote-engine.ts';
import { createParcels, sealCalls } from '../../src/fetch/remote/sealed-calls.ts';
import { openTransit } from '../../src/wiring/open-blobs.ts';
import { type Crew, type CrewMember, gatherCrew, VAULT_KEY } from './crew.ts';
import { endMembers, launch } from './member.ts';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const LIMIT_MS = 180_000;

const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 60_000, interval: 50 });

/** Pages that are nothing without their scripts. `/held` waits for the test. */
interface Held {
  readonly agent: string;
  readonly response: ServerResponse;
}

let crew: Crew;
let queue: QueueBullmq;
let blobs: BlobsS3;
let transit: Blobs;
let remote: RemoteEngine;
let site: Server;
let origin: string;
const held: Held[] = [];
const workers: CrewMember[] = [];

beforeAll(async () => {
  site = createServer(answer);
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  crew = await gatherCrew({ settings: { allowPrivate: true, browserPages: 2 } });
  const { redisUrl: url, redisPrefix: prefix, s3Url, databaseUrl } = crew.place;
  queue = await createQueueBullmq({ url, prefix, onHandlerError: () => undefined });
  blobs = await createBlobsS3({ url: s3Url, now: Date.now, random: Math.random });
  transit = await openTransit({ s3Url, databaseUrl, dataDir: crew.dir, spillBytes: 0 });
  const seal = createCallSeal(VAULT_KEY);
  remote = createRemoteEngine({
    name: 'browser',
    queue: sealCalls(queue, seal),
    blobs,
    parcels: createParcels(transit, seal),
  });
}, LIMIT_MS);
afterEach(async () => {
  for (const { response } of held.splice(0)) response.destroy();
  const ends = workers.splice(0).map(({ signal, ended }) => {
    signal('SIGTERM');
    return ended;
  });
  await Promise.all(ends);
  await until(async () => expect(await remote.countWorkers()).toBe(0));
}, LIMIT_MS);
afterAll(async () => {
  await remote?.close();
  await Promise.all([queue?.close(), blobs?.close(), transit?.close()]);
  await endMembers();
  await crew?.close();
  site.closeAllConnections();
  await new Promise((resolve) => site.close(resolve));
}, LIMIT_MS);

function answer(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('content-type', 'text/html');
  if (request.url === '/held') held.push({ agent: request.headers['user-agent'] ?? '', response });
  else if (request.url === '/list') {
    response.end(
      '<ul id=list></ul><script>for (const n of [1, 2, 3]) list.innerHTML += "<li>item " + n</script>',
    );
  } else response.writeHead(404).end('<p>none');
}

async function addWorker(name: string): Promise<CrewMember> {
  const worker = await crew.add('browser-worker', { contact: `${name}@example.com` });
  workers.push(worker);
  return worker;
}

function fetchPage(path: string, render: FetchRequest['render'] = {}): Promise<FetchResponse> {
  return remote.fetch({
    // As of a host whose gate admits a second request at once.
    admission: { validMs: Number.POSITIVE_INFINITY, again: async () => undefined },
    url: origin + path,
    method: 'GET',
    headers: {},
    cookies: {},
    body: null,
    timeoutMs: 90_000,
    maxBodyBytes: 1_048_576,
    maxRedirects: 5,
    conditional: null,
    onRedirect: async () => 'follow',
    render,
  });
}

/** Processes below this one, at any depth; null where the system does not tell. */
function descendantsOf(pid: number): number[] | null {
  const parents = new Map<number, number>();
  try {
    for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
      try {
        const fields = readFileSync(join('/proc', name, 'stat'), 'utf8')
          .split(') ')
          .at(-1)
          ?.split(' ');
        parents.set(Number(name), Number(fields?.[1]));
      } catch {
        // The process has ended while we looked.
      }
    }
  } catch {
    return null;
  }
  const below = [...parents.keys()].filter((each) => {
    for (let at = parents.get(each); at !== undefined && at > 1; at = parents.get(at))
      if (at === pid) return true;
    return false;
  });
  return below;
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

describe('browser workers', { timeout: LIMIT_MS }, () => {
  test('render what scripts make of a page, and bring pictures and failures back', async () => {
    await addWorker('one');
    const shown = await fetchPage('/list', { screenshot: { fullPage: true } });
    expect(Buffer.from(shown.body).toString()).toContain('<li>item 3');
    const picture = Buffer.from(shown.rendered?.extra.screenshot?.bytes ?? []);
    expect(picture.subarray(0, PNG.length)).toEqual(PNG);
    expect(shown.rendered?.failure).toBeNull();

    const failed = await fetchPage('/list', {
      actions: [
        { type: 'evaluate', script: 'document.querySelectorAll("li").length' },
        { type: 'click', selector: '#none', timeoutMs: 300 },
      ],
    });
    expect(failed.rendered?.failure).toMatchObject({
      code: 'ACTION_FAILED',
      details: { step: 'actions.1 click #none' },
    });
    expect(failed.rendered?.extra.actions).toMatchObject([{ value: 3 }]);
    expect(Buffer.from(failed.body).toString()).toContain('<li>item 3');
  });

  test('one that is killed in the middle takes its browser along, and another renders the page', async () => {
    const members = { one: await addWorker('one'), two: await addWorker('two') };
    const page = fetchPage('/held');
    await until(() => expect(held).toHaveLength(1));
    const victim = held[0]?.agent.includes('one@') ? members.one : members.two;
    const browsers = descendantsOf(victim.pid);
    if (browsers !== null) expect(browsers.length).toBeGreaterThan(0);
    victim.signal('SIGKILL');
    await until(() => expect(held).toHaveLength(2));
    expect(held[1]?.agent).not.toBe(held[0]?.agent);
    held[1]?.response.end('<p id=out></p><script>out.append("by another")</script>');
    expect(Buffer.from((await page).body).toString()).toContain('by another</p>');
    await until(() => expect((browsers ?? []).filter(isAlive)).toEqual([]));
  });

  test('when the only one is killed its pages have lost their browser', async () => {
    const only = await addWorker('one');
    const page = fetchPage('/held').catch((error: unknown) => error);
    await until(() => expect(held).toHaveLength(1));
    only.signal('SIGKILL');
    const error = await page;
    expect(isScrapifieError(error) && error.code).toBe('BROWSER_LOST');
  });

  test('without the browser that was named do not start', async () => {
    const settings = { ...crew.place, apiKey: crew.apiKey, browserPath: join(crew.dir, 'none') };
    const args = ['serve', '--role', 'browser-worker', '--port', '0'];
    const one = launch(join(crew.dir, 'without'), args, settings);
    expect(await one.ended).toBe(5);
    expect(one.output()).toContain('No browser runs at');
  });
});
