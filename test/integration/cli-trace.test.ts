import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import { runCommand, temporaryFolder } from './cli-command.ts';

let site: Site;
const folder = temporaryFolder();
beforeAll(async () => {
  site = await startSite();
});
afterAll(async () => {
  await site.close();
  folder.remove();
});

const HOW =
  /engine `http`, without a proxy, identity `bot`\. It is the cheapest way to fetch a page\. \[plan\.cheapest\]/;

it('scrape --verbose tells each attempt with its reason and cost, and leaves the result alone', async () => {
  const args = ['scrape', `${site.url}/shop/`, '--allow-private', '--format', 'markdown'];
  const plain = await runCommand([...args, '--quiet']);
  const told = await runCommand([...args, '--verbose']);
  expect(plain).toMatchObject({ exitCode: 0, stderr: '' });
  expect(told.stdout).toBe(plain.stdout);
  expect(told.stderr).toMatch(HOW);
  expect(told.stderr).toContain('status 200');
  expect(told.stderr).toMatch(/^- It took .*, and cost 1 credit\.$/m);
});

it('crawl --verbose tells how each page came about, and why other URLs were not fetched', async () => {
  const limits = ['--rate', 'unlimited', '--max-pages', '3', '--exclude', '/content/soft*'];
  const { exitCode, stderr } = await runCommand(
    ['crawl', `${site.url}/content/`, '--allow-private', '--verbose', '--out', 'traced', ...limits],
    { cwd: folder.path('') },
  );
  expect(exitCode).toBe(0);
  expect(stderr.match(/^http\S+: done$/gm)).toHaveLength(3);
  expect(stderr).toMatch(HOW);
  expect(stderr).toMatch(/A link on \S+\/content\/ led to it, 1 link away from a start URL/);
  const [, unfetched = ''] = stderr.split('URLs that were not fetched:\n');
  expect(unfetched).toMatch(/^- \d+ URLs were skipped, .* \[budget\.pages\]$/m);
  expect(unfetched).toMatch(
    /^- \d+ URLs were skipped, .*The exclude pattern .* \[scope\.exclude:\/content\/soft\*\]$/m,
  );
});

it('a crawl is told in full or not at all', async () => {
  const { exitCode, stderr } = await runCommand(['crawl', site.url, '--quiet', '--verbose']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("option '--quiet' cannot be used with option '--verbose'");
});
