import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createIdentities } from '../../crawl/plan/identity/identities.ts';
import { targetSetupOf } from './disguise.ts';

test('`chrome.runtime`, which a driver’s extension gives to every page, is taken away', async () => {
  const identity = await createIdentities(() => null).of('seed', null);
  const command = targetSetupOf(identity, 'secret')
    .commandsFor('page')
    .find(({ method }) => method === 'Page.addScriptToEvaluateOnNewDocument');
  const { source = '' } = (command?.params ?? {}) as { readonly source?: string };
  const page = createContext({ chrome: { runtime: { id: 'driver' }, app: {} } });
  runInContext(source, page);
  expect(runInContext('Object.keys(chrome).join()', page)).toBe('app');
});
