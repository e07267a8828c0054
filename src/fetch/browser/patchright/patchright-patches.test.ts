import { readFileSync } from 'node:fs';
import { type Browser, type BrowserType, chromium, type Page } from 'patchright-core';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../../http/loopback.fixture.ts';
import { render, testBrowser, textOf } from '../browser.fixture.ts';
import type { PoolEvent } from '../pool/pool-health.ts';
import { missingInternals, PATCHRIGHT_VERSION } from './patchright-patches.ts';

interface Connection {
  toImpl(object: object): object | undefined;
}

/** Starts browsers whose library has lost the names, as a later version that renames its internals would. */
function libraryWithout(isHidden: (object: object, name: string) => boolean): BrowserType {
  const launch = async (options: Parameters<BrowserType['launch']>[0]): Promise<Browser> => {
    const browser = await chromium.launch(options);
    const connection = (browser as unknown as { _connection: Connection })._connection;
    const { toImpl } = connection;
    onTestFinished(() => {
      connection.toImpl = toImpl;
    });
    connection.toImpl = (object) => {
      const found = toImpl.call(connection, object);
      return found === undefined
        ? undefined
        : new Proxy(found, {
            get: (target, name) =>
              isHidden(object, String(name)) ? undefined : Reflect.get(target, name, target),
          });
    };
    return browser;
  };
  return { ...chromium, launch } as BrowserType;
}

const isPage = (object: object): object is Page => 'mainFrame' in object;

async function eventsOf(isHidden: (object: object, name: string) => boolean) {
  const events: PoolEvent[] = [];
  const { engine } = testBrowser({
    maxBrowsers: 1,
    library: libraryWithout(isHidden),
    onEvent: (event) => events.push(event),
  });
  const { origin } = await serve((_, response) =>
    response
      .setHeader('content-type', 'text/html')
      .end('<p id=a></p><script>a.textContent = "by a script"</script>'),
  );
  for (const path of ['/1', '/2'])
    expect(textOf(await render(engine, origin + path))).toContain('by a script');
  return events.filter(({ kind }) => kind === 'driver unpatched').map(({ reason }) => reason);
}

test('the installed library has all internals that the patches need', async () => {
  expect(await eventsOf(() => false)).toEqual([]);
});

test('a browser without an internal name is reported once, with the version that has it, and renders pages', async () => {
  const [reason = '', ...more] = await eventsOf((object, name) => !isPage(object) && name === '_connection');
  expect(more).toEqual([]);
  expect(reason).toContain(`patchright-core ${PATCHRIGHT_VERSION} is needed`);
  expect(reason).toContain('_connection.rootSession._onMessage');
  expect(reason).toContain('_connection._transport._dispatch');
});

test.each(['mainFrame', 'delegate'])('a page without %s is reported once and rendered', async (name) => {
  const [reason = '', ...more] = await eventsOf((object, asked) => isPage(object) && asked === name);
  expect(more).toEqual([]);
  expect(reason).toContain(`patchright-core ${PATCHRIGHT_VERSION} is needed`);
  expect(reason).toContain(name);
});

test('the version that the patches name is the one that is depended on', () => {
  const { dependencies } = JSON.parse(
    readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
  ) as { dependencies: Readonly<Record<string, string>> };
  expect(dependencies['patchright-core']).toBe(PATCHRIGHT_VERSION);
});

test('missing internals are named by their paths', () => {
  const internals = { a: { b: () => {} }, c: null };
  expect(missingInternals(internals, ['a.b', 'a.x', 'a.x.y', 'c', 'd'])).toEqual(['a.x', 'a.x.y', 'c', 'd']);
  expect(missingInternals(null, ['a'])).toEqual(['a']);
});
