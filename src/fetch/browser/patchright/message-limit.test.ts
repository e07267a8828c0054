import { chromium } from 'patchright-core';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../../http/loopback.fixture.ts';
import { EXECUTABLE } from '../browser.fixture.ts';
import { limitMessages, patchBrowser } from './patchright-patches.ts';

const MOST_BYTES = 1_000_000;

async function open() {
  const browser = await chromium.launch({
    ...(EXECUTABLE === null ? {} : { executablePath: EXECUTABLE }),
    chromiumSandbox: false,
  });
  onTestFinished(() => browser.close());
  patchBrowser(browser, false);
  limitMessages(browser, MOST_BYTES);
  return browser.newPage();
}

test('an answer that is too long is an error, and those before and after it arrive', async () => {
  const page = await open();
  const session = await page.context().newCDPSession(page);
  const lengthOf = async (count: number): Promise<number> => {
    const expression = `'x'.repeat(${count})`;
    const { result } = await session.send('Runtime.evaluate', { expression, returnByValue: true });
    return String(result.value).length;
  };
  expect(await lengthOf(MOST_BYTES / 2)).toBe(MOST_BYTES / 2);
  await expect(lengthOf(3 * MOST_BYTES)).rejects.toThrow('too large');
  expect(await lengthOf(MOST_BYTES / 2)).toBe(MOST_BYTES / 2);
  expect(await lengthOf(7)).toBe(7);
});

test('an event that is too long is dropped, and those around it arrive', async () => {
  const page = await open();
  const session = await page.context().newCDPSession(page);
  const heard: string[] = [];
  session.on('Runtime.consoleAPICalled', ({ args }) => void heard.push(String(args[0]?.value).slice(0, 9)));
  await session.send('Runtime.enable');
  const expression = `console.log('before'); console.log('x'.repeat(${3 * MOST_BYTES})); console.log('after')`;
  await session.send('Runtime.evaluate', { expression });
  expect(heard).toEqual(['before', 'after']);
});

test('a request that is paused by an event that is too long is failed', async () => {
  const { origin } = await serve((_, response) => response.setHeader('content-type', 'text/html').end('<p>'));
  const page = await open();
  await page.goto(origin);
  const session = await page.context().newCDPSession(page);
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
  session.on('Fetch.requestPaused', ({ requestId }) => {
    session.send('Fetch.continueRequest', { requestId }).catch(() => undefined);
  });
  const post = async (count: number): Promise<unknown> => {
    const expression = `fetch('/', { method: 'POST', body: 'x'.repeat(${count}) }).then(() => 'sent', () => 'refused')`;
    const answer = await session.send('Runtime.evaluate', { expression, awaitPromise: true });
    return answer.result.value;
  };
  expect(await post(10)).toBe('sent');
  expect(await post(3 * MOST_BYTES)).toBe('refused');
  expect(await post(10)).toBe('sent');
});
