import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiWorld, openApiWorld } from '../integration/api-world.ts';
import { mcpAddress } from '../integration/mcp-client.ts';
import { addConformanceFixtures } from './fixtures.ts';
import { type KeyProxy, startKeyProxy } from './key-proxy.ts';
import { type Check, runSuite } from './run-suite.ts';

const LIMIT_MS = 60_000;

const ASKS_NOTHING = 'No tool asks the user or the model for anything while it runs: a result is a result.';
const NO_PROMPTS = 'The server offers no prompts; test_simple_prompt is there for the hints about caching.';
const NO_LOG = 'The server sends no log messages: results of tools say what happened.';
const NO_SUBSCRIPTIONS =
  'Pages of a job do not change once they are stored, so there is nothing to subscribe to.';
const NO_TASKS =
  'The extension for tasks is not offered: a crawl returns the id of its job, which any client can follow.';
const NO_SESSIONS =
  'The server has no sessions, so a stream that was lost is not resumed: the call is made again.';

/** Scenarios that do not apply, by the beginning of their names, and why. */
const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  'completion-complete': 'There are no prompts whose arguments could be completed.',
  'elicitation-': ASKS_NOTHING,
  'http-custom-header-server-validation': 'No tool asks for arguments in headers.',
  'input-required-result-': ASKS_NOTHING,
  'logging-set-level': NO_LOG,
  'prompts-get-': NO_PROMPTS,
  'resources-subscribe': NO_SUBSCRIPTIONS,
  'resources-unsubscribe': NO_SUBSCRIPTIONS,
  'server-session-lifecycle': NO_SESSIONS,
  'server-sse-polling': NO_SESSIONS,
  'tasks-': NO_TASKS,
  'tools-call-elicitation': ASKS_NOTHING,
  'tools-call-sampling': ASKS_NOTHING,
  'tools-call-with-logging': NO_LOG,
};

/** Single requirements of scenarios that apply otherwise. */
const NOT_TESTABLE: Readonly<Record<string, string>> = {
  'sep-2575-server-rejects-undeclared-capability': ASKS_NOTHING,
  'sep-2575-missing-capability-http-400': ASKS_NOTHING,
  'sep-2575-http-server-no-independent-requests-on-stream': ASKS_NOTHING,
  'sep-2575-server-no-log-without-loglevel': NO_LOG,
};

/** Scenarios that must have been tried, for a suite that tries nothing finds nothing. */
const TRIED = {
  '2026-07-28': ['server-stateless', 'http-header-validation', 'caching', 'sep-2164-resource-not-found'],
  '2025-11-25': ['server-initialize', 'ping', 'json-schema-2020-12', 'dns-rebinding-protection'],
} as const;
const TRIED_IN_BOTH = ['tools-list', 'tools-call-error', 'tools-call-with-progress', 'resources-read-text'];

let world: ApiWorld;
let proxy: KeyProxy;
beforeAll(async () => {
  world = await openApiWorld({ extendMcp: addConformanceFixtures });
  proxy = await startKeyProxy(await mcpAddress(world.api), world.secret);
});
afterAll(async () => {
  await proxy.close();
  await world.close();
});

const applies = ({ scenario, id }: Check) =>
  !Object.keys(NOT_APPLICABLE).some((name) => scenario.startsWith(name)) && !Object.hasOwn(NOT_TESTABLE, id);

describe('the conformance suite of the Model Context Protocol', () => {
  it.each(Object.keys(TRIED) as (keyof typeof TRIED)[])(
    'finds nothing wrong with revision %s, where it applies',
    async (revision) => {
      const checks = await runSuite(proxy.url, revision);
      const failures = checks.filter(({ status }) => status === 'FAILURE');
      expect(
        failures
          .filter(applies)
          .map(({ scenario, id, errorMessage }) => `${scenario} ${id}: ${errorMessage}`),
      ).toEqual([]);
      const passed = new Set(
        checks
          .filter((check) => check.status === 'SUCCESS' && applies(check))
          .map(({ scenario }) => scenario),
      );
      expect([...passed]).toEqual(expect.arrayContaining([...TRIED[revision], ...TRIED_IN_BOTH]));
      const tested = failures.filter(({ id }) => Object.hasOwn(NOT_TESTABLE, id)).map(({ id }) => id);
      if (revision === '2026-07-28') expect(tested.sort()).toEqual(Object.keys(NOT_TESTABLE).sort());
    },
    LIMIT_MS,
  );
});
