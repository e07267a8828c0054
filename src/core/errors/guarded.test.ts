import { EventEmitter } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { guarded, listen, listenOnce, reportListenerErrors } from './guarded.ts';

const FAULT = new Error('a fault in a listener');
const fail = () => {
  throw FAULT;
};
const until = (condition: () => void) => vi.waitFor(condition, { timeout: 20_000, interval: 5 });

const reported: unknown[] = [];
let stopReports: () => void;
beforeEach(() => {
  reported.length = 0;
  stopReports = reportListenerErrors((error) => reported.push(error));
});
afterEach(() => stopReports());

describe('a guarded listener', () => {
  it('gets what the event brings, every time, and can be removed by its own name', () => {
    const target = new EventEmitter();
    const got: unknown[] = [];
    const listener = (...args: readonly number[]) => got.push(args);
    listen(target, 'tick', listener);
    target.emit('tick', 1, 2);
    target.emit('tick', 3);
    target.off('tick', listener);
    target.emit('tick', 4);
    expect(got).toEqual([[1, 2], [3]]);
    expect(target.listenerCount('tick')).toBe(0);
  });

  it('of the first event alone is gone after it, and can be removed before it', () => {
    const target = new EventEmitter();
    const listener = vi.fn();
    listenOnce(target, 'tick', listener);
    target.emit('tick', 1);
    target.emit('tick', 2);
    expect(listener.mock.calls).toEqual([[1]]);
    listenOnce(target, 'tick', listener);
    target.off('tick', listener);
    expect(target.listenerCount('tick')).toBe(0);
  });

  it('that throws destroys its stream, and nothing else', async () => {
    const [broken, whole] = [new PassThrough(), new PassThrough()];
    listen(broken, 'data', fail);
    listen(whole, 'data', () => undefined);
    broken.write('a');
    whole.write('a');
    await until(() => expect(broken.destroyed).toBe(true));
    expect(whole.destroyed).toBe(false);
    expect(reported).toEqual([FAULT]);
  });

  it('whose promise is rejected counts as one that throws', async () => {
    const stream = new PassThrough();
    listen(stream, 'data', async () => fail());
    stream.write('a');
    await until(() => expect(stream.destroyed).toBe(true));
    expect(reported).toEqual([FAULT]);
  });

  it('of a server ends the connection of the event, and the server goes on', async () => {
    const server = createServer();
    listen(server, 'upgrade', fail);
    listen(server, 'request', (request: IncomingMessage, response: ServerResponse) => {
      if (request.url === '/fails') fail();
      response.end('answered');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    for (const head of [
      'GET /fails HTTP/1.1',
      'GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade',
    ]) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(`${head}\r\nHost: localhost\r\n\r\n`);
      await new Promise((resolve) => socket.once('close', resolve));
    }
    expect(reported).toEqual([FAULT, FAULT]);
    const status = await new Promise((resolve) =>
      get({ port, agent: false }, (response) => resolve(response.resume().statusCode)),
    );
    expect(status).toBe(200);
    await new Promise((resolve) => server.close(resolve));
  });

  it('of a thread ends the thread', async () => {
    const thread = new Worker(
      "require('node:worker_threads').parentPort.postMessage(1); setInterval(() => {}, 1000)",
      {
        eval: true,
      },
    );
    const ended = new Promise((resolve) => thread.once('exit', resolve));
    listen(thread, 'message', fail);
    await ended;
    expect(reported).toEqual([FAULT]);
  });

  it('of this process does not end it', () => {
    listenOnce(process, 'a test event', fail);
    process.emit('a test event' as 'exit', 0);
    expect(reported).toEqual([FAULT]);
  });

  it('of a signal is reported as well', () => {
    const stop = new AbortController();
    stop.signal.addEventListener('abort', guarded(fail));
    stop.abort();
    expect(reported).toEqual([FAULT]);
  });

  it('may throw anything, and end what cannot be ended', () => {
    const target = Object.assign(new EventEmitter(), {
      destroy() {
        throw new Error('destroyed already');
      },
    });
    listen(target, 'tick', () => {
      throw null;
    });
    expect(() => target.emit('tick')).not.toThrow();
    expect(reported).toEqual([null]);
  });

  it('fails by an uncaught error where no reporter is set: a command ends and says why', async () => {
    stopReports();
    const uncaught: unknown[] = [];
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => uncaught.push(error));
    try {
      const stream = new PassThrough();
      listen(stream, 'data', fail);
      stream.write('a');
      await until(() => expect(uncaught).toEqual([FAULT]));
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const other of others) process.on('uncaughtException', other);
    }
  });
});
