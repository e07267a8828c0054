import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { childEnvironment } from '../../config/search-environment.ts';
import { EXECUTABLE } from '../browser/browser.fixture.ts';
import { confine, isRoot } from './confinement.ts';

const ENTRY = fileURLToPath(new URL('../../wiring/render-child.ts', import.meta.url));
const options = { entry: ENTRY, executablePath: EXECUTABLE, env: childEnvironment() };

test('a server of root without another user runs browsers as root, without their sandbox, and says so', async () => {
  const { user, isSandboxed, weaknesses } = await confine({
    ...options,
    isRoot: true,
    passwd: 'root:x:0:0::/:',
  });
  expect([user, isSandboxed]).toEqual([null, false]);
  expect(weaknesses).toEqual([
    expect.stringMatching(/^browsers run as root, because there is no user for them: make one/),
    expect.stringMatching(/^Chromium's sandbox is off, because Chromium refuses to run it as root/),
  ]);
});

test.runIf(isRoot())('what the other user cannot read is named, and browsers run as root', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-closed-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const entry = join(folder, 'entry.ts');
  await writeFile(entry, '');
  const { user, weaknesses } = await confine({ ...options, entry, isRoot: true });
  expect(user).toBeNull();
  expect(weaknesses[0]).toContain(`cannot use ${entry}`);
});

test.runIf(isRoot())('a user made for it goes before the one that every system has', async () => {
  const passwd = 'nobody:x:65534:65534::/:\nscrapifie:x:64999:64999::/:\n';
  const { user } = await confine({ ...options, isRoot: true, executablePath: null, passwd });
  expect(user).toEqual({ name: 'scrapifie', uid: 64_999, gid: 64_999 });
});

test('a server of another user needs no other user', async () => {
  const { user } = await confine({ ...options, isRoot: false, executablePath: null });
  expect(user).toBeNull();
});
