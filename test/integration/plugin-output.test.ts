import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import { startCommand, temporaryFolder } from './cli-command.ts';

let site: Site;
const folder = temporaryFolder();
beforeAll(async () => {
  site = await startSite({ pages: 1 });
  writeFileSync(
    folder.path('noisy.ts'),
    `import { log } from 'node:console';
    console.log('loaded');
    export default {
      name: 'noisy',
      extractors: [{
        name: 'page',
        says: 'A page.',
        fields: { name: { kind: 'text', says: 'Its name.' } },
        weigh() { console.info('weighed'); log('once more'); process.stdout.write('written'); return 1; },
        read({ document }, draft) { draft.give('name', document.text('h1'), 'markup'); },
      }],
    };`,
  );
});
afterAll(async () => {
  await site.close();
  folder.remove();
});

it('what a plug-in logs goes to standard error: standard output has the result alone', async () => {
  const args = ['scrape', `${site.url}/big/`, '--allow-private', '--extract', 'noisy:page'];
  const { exitCode, stdout, stderr } = await startCommand(args, {
    env: { SCRAPIFIE_PLUGINS: folder.path('noisy.ts') },
  }).ended;
  expect({ exitCode, page: JSON.parse(stdout) }).toMatchObject({
    exitCode: 0,
    page: { extractedType: 'noisy:page' },
  });
  for (const word of ['loaded', 'weighed', 'once more', 'written']) expect(stderr).toContain(word);
});
