import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { endCommands, runCommand, temporaryFolder } from '../integration/cli-command.ts';
import { type Site, startSite } from '../site/site.ts';
import { startChatServer } from './chat-server.ts';

const KEY = 'sk-test-77aa';
const KETTLE = '/shop/product/tern-kettle';
const RULES =
  'title: h1\nsound:\n  css: .no-such\n  required: true\nmood:\n  css: .nor-this\n  required: true\n';
const folder = temporaryFolder();
let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: 20, log: 'full' });
  writeFileSync(folder.path('rules.yaml'), RULES);
});
afterAll(async () => {
  await endCommands();
  await site.close();
  folder.remove();
});

const scrape = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCommand(['scrape', site.url + KETTLE, '--allow-private', ...args], { cwd: folder.path('.'), env });

const answer = () => ({ values: { sound: 'a major third', mood: 'cheerful' }, evidence: {} });
const settingsFor = (url: string) => ({
  SCRAPIFIE_LLM_URL: url,
  SCRAPIFIE_LLM_KEY: KEY,
  SCRAPIFIE_LLM_MODEL: 'small',
});

it('asks the language model for required fields that the rules left empty, and only with --llm', async () => {
  const server = await startChatServer({ key: KEY, model: 'small', answer });
  const settings = settingsFor(server.url);
  const without = await scrape(['--rules', 'rules.yaml'], settings);
  expect(JSON.parse(without.stdout).extracted).toMatchObject({ sound: null, mood: null });
  expect(server.asked).toHaveLength(0);

  const { exitCode, stdout, stderr } = await scrape(['--rules', 'rules.yaml', '--llm'], settings);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    extracted: { title: 'Tern Kettle', sound: 'a major third', mood: null },
    extractedBy: { sound: { source: 'llm:small' } },
    extractProblems: expect.arrayContaining([expect.objectContaining({ path: 'mood' })]),
  });
  expect(stdout).not.toContain(KEY);
  expect(server.asked).toHaveLength(1);
});

it.each([['mood'], ['all']])('a field named by --llm-derived %s need not stand on the page', async (name) => {
  const server = await startChatServer({ key: KEY, model: 'small', answer });
  const { stdout } = await scrape(['--rules', 'rules.yaml', '--llm-derived', name], settingsFor(server.url));
  expect(JSON.parse(stdout).extracted).toMatchObject({ sound: 'a major third', mood: 'cheerful' });
});

it('is refused without rules, and where no language model is set up, before anything is fetched', async () => {
  const before = site.log.length;
  const bare = await scrape(['--llm']);
  expect(bare.exitCode).toBe(2);
  expect(bare.stderr).toMatch(/--llm: Needs `rules` with required fields/);
  const unset = await scrape(['--rules', 'rules.yaml', '--llm']);
  expect(unset.exitCode).not.toBe(0);
  expect(unset.stderr).toMatch(/UNSUPPORTED_OPTION.*SCRAPIFIE_LLM_URL/);
  expect(site.log.length).toBe(before);
});
