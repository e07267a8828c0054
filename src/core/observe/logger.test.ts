import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { createLogger, type Logger, type LoggerOptions, withIds } from './logger.ts';

function record(options: Partial<LoggerOptions> = {}): { logger: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { logger: createLogger({ level: 'info', destination, ...options }), lines };
}

describe('a log line', () => {
  it('has level, time, message and the ids of its logger', () => {
    const { logger, lines } = record();
    withIds(withIds(logger, { requestId: 'r1' }), { jobId: 'j1', taskId: 7 }).warn({ bytes: 3 }, 'hello');
    expect(lines).toEqual([
      {
        level: 'warn',
        time: expect.any(String),
        service: 'scrapifie',
        role: 'all',
        instance: `${hostname()}:${process.pid}`,
        requestId: 'r1',
        jobId: 'j1',
        taskId: 7,
        bytes: 3,
        msg: 'hello',
      },
    ]);
    expect(new Date(String(lines[0]?.time)).toISOString()).toBe(lines[0]?.time);
  });

  it('has the ids of the trace that is under way', () => {
    const ids = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
    let current: typeof ids | null = null;
    const { logger, lines } = record({ traceIds: () => current });
    logger.info('outside');
    current = ids;
    withIds(logger, { jobId: 'j1' }).info({ bytes: 3 }, 'inside');
    expect(lines[0]).not.toHaveProperty('traceId');
    expect(lines[1]).toMatchObject({ ...ids, jobId: 'j1', bytes: 3 });
  });

  it('keeps fields whose names the logger needs for itself, under another name', () => {
    const texts: string[] = [];
    const destination = { write: (line: string) => void texts.push(line) };
    const logger = createLogger({ level: 'info', destination, role: 'api' });
    logger.child({ role: 'x' }).info({ level: 'y', time: 'z', service: 's', instance: 'i' }, 'hello');
    expect(JSON.parse(texts[0] ?? '')).toMatchObject({
      ...{ level: 'info', role: 'api', service: 'scrapifie', role_: 'x', level_: 'y', time_: 'z' },
    });
    expect(texts[0]?.match(/"level":/g)).toHaveLength(1);
  });

  it('is not written below the level', () => {
    const { logger, lines } = record({ level: 'warn' });
    logger.info('no');
    expect(lines).toEqual([]);
  });

  it('shows an error with its code, details and cause, without the secrets in them', () => {
    const { logger, lines } = record();
    const cause = Object.assign(new Error('GET https://u:hush1@h.example failed'), { token: 'hush2' });
    const details = { headers: { 'Set-Cookie': ['hush3'] }, attempts: 2 };
    logger.error(new ScrapifieError('CONNECT_FAILED', 'no way to ?token=hush4', { cause, details }));
    expect(JSON.stringify(lines)).not.toContain('hush');
    expect(lines[0]?.err).toMatchObject({
      type: 'ScrapifieError',
      code: 'CONNECT_FAILED',
      details: { headers: { 'Set-Cookie': '[redacted]' }, attempts: 2 },
      cause: { message: 'GET https://[redacted]@h.example failed' },
    });
  });

  it('shows of a request what was asked, not who asked', () => {
    const { logger, lines } = record();
    const headers = { authorization: 'Bearer hush' };
    const req = { method: 'GET', url: '/v1/jobs?api_key=hush', headers, ip: '192.0.2.7' };
    logger.info({ req, res: { statusCode: 200, headers } }, 'answered');
    expect(lines[0]).toMatchObject({
      req: { method: 'GET', url: '/v1/jobs?api_key=[redacted]' },
      res: { statusCode: 200 },
    });
    expect(JSON.stringify(lines)).not.toMatch(/hush|192\.0\.2\.7/);
  });

  it('hides the secrets that were named, wherever they stand', () => {
    const { logger, lines } = record({ secrets: ['quo"ted\\key', undefined, ''] });
    logger.info({ note: 'it is quo"ted\\key!', plain: 'quoted' }, 'quo"ted\\key');
    expect(lines[0]).toMatchObject({ note: 'it is [redacted]!', plain: 'quoted', msg: '[redacted]' });
  });

  it('keeps numbers and flags that only sound like secrets', () => {
    const { logger, lines } = record();
    logger.info({ tokens: 1.5, tokensAt: 17, hasCookie: true, apiKey: null });
    expect(lines[0]).toMatchObject({ tokens: 1.5, tokensAt: 17, hasCookie: true, apiKey: null });
  });

  it('stays small when somebody logs too much', () => {
    const { logger, lines } = record();
    const knot: Record<string, unknown> = {};
    for (let index = 0; index < 60; index += 1) knot[`knot${index}`] = knot;
    logger.info({
      bytes: new Uint8Array(1e6),
      many: Array.from({ length: 10_000 }, () => 'x'),
      logger,
      knot,
    });
    expect(JSON.stringify(lines).length).toBeLessThan(200_000);
    expect(lines[0]).toMatchObject({ bytes: '[1000000 bytes]' });
  });
});

describe('lines that still wait in memory', () => {
  const module = JSON.stringify(fileURLToPath(new URL('./logger.ts', import.meta.url)));
  const run = (end: string) =>
    spawnSync(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `import { createLogger, flushLogger } from ${module};
         const logger = createLogger({ level: 'info' });
         for (let i = 0; i < 3; i += 1) logger.info('line ' + i);
         ${end}`,
      ],
      { encoding: 'utf8' },
    );

  it.each([
    ['the process exits', 'process.exit(0)'],
    ['it dies of an exception', "setImmediate(() => { throw new Error('crash') })"],
    ['it dies of a rejection', "Promise.reject(new Error('crash'))"],
    ['it ends by itself', ''],
    ['it flushes and is killed', "await flushLogger(logger); process.kill(process.pid, 'SIGKILL')"],
  ])('are written to standard error when %s', (_, end) => {
    const { stdout, stderr } = run(end);
    expect(stdout).toBe('');
    expect(stderr.match(/"msg":"line \d"/g)).toEqual(['"msg":"line 0"', '"msg":"line 1"', '"msg":"line 2"']);
  });
});

describe('a standard error that takes no lines', () => {
  const module = JSON.stringify(fileURLToPath(new URL('./logger.ts', import.meta.url)));
  /** Logs 20 MB, says that it is alive, and ends by itself, or when it is told to. */
  const source = `
    import { readFile } from 'node:fs/promises';
    import { createLogger } from ${module};
    const logger = createLogger({ level: 'info' });
    for (let i = 0; i < 20_000; i += 1) logger.info({ text: 'x'.repeat(1_000) }, 'line');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await readFile('/dev/null');
    process.stdout.write('alive', () => process.exit(0));`;
  const start = (stderr: 'pipe' | number) =>
    spawn(process.execPath, ['--input-type=module', '--eval', source], { stdio: ['ignore', 'pipe', stderr] });

  it.each([
    ['is never read', () => start('pipe')],
    [
      'is closed',
      () => {
        const child = start('pipe');
        child.stderr?.destroy();
        return child;
      },
    ],
    ['is a full disk', () => start(openSync('/dev/full', 'w'))],
  ])('neither stops nor ends the process: it %s', { timeout: 60_000 }, async (_, begin) => {
    const child = begin();
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    // While the pipe is unread, the event `close` of the process does not come.
    const [code, signal] = await once(child, 'exit');
    expect([said, code, signal]).toEqual(['alive', 0, null]);
    child.stderr?.destroy();
  });
});
