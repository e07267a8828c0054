import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { childEnvironment } from '../../core/config/search-environment.ts';
import { EXECUTABLE } from '../browser/browser.fixture.ts';
import { confine, isRoot, refusalOf } from './confinement.ts';

const options = {
  executablePath: EXECUTABLE,
  env: childEnvironment(),
  secretPlaces: [],
  programFolder: fileURLToPath(new URL('../../..', import.meta.url)),
};

test('a server of root without another user has no confinement, and says what to do', async () => {
  const confinement = await confine({ ...options, isRoot: true, passwd: 'root:x:0:0::/:' });
  expect(confinement).toMatchObject({
    user: null,
    isSandboxed: false,
    weaknesses: [
      {
        what: 'browsers would run as root, because there is no user for them',
        remedy: expect.stringMatching(/^make one/),
        isGrave: true,
      },
    ],
  });
  const refusal = refusalOf(confinement);
  expect(refusal).toMatchObject({ code: 'BROWSER_UNCONFINED', spec: { exitCode: 5 } });
  expect(refusal?.message).toContain('useradd --system scrapifie');
  expect(refusal?.message).toContain('SCRAPIFIE_UNCONFINED_BROWSERS=true');
});

test.runIf(isRoot())('a browser that the other user cannot run is named, and needs consent', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-closed-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const executablePath = join(folder, 'chromium');
  await copyFile(process.execPath, executablePath);
  await chmod(executablePath, 0o755);
  const confinement = await confine({ ...options, executablePath, isRoot: true });
  expect(confinement.user).toBeNull();
  expect(refusalOf(confinement)?.message).toContain(`cannot use ${executablePath}`);
});

test.runIf(isRoot())('a user made for it goes before the one that every system has', async () => {
  const passwd = 'nobody:x:65534:65534::/:\nscrapifie:x:64999:64999::/:\n';
  const { user } = await confine({ ...options, isRoot: true, executablePath: null, passwd });
  expect(user).toEqual({ name: 'scrapifie', uid: 64_999, gid: 64_999 });
});

test.runIf(isRoot())('the folder for temporary files may be closed to others', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-private-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  onTestFinished(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const confinement = await confine({ ...options, isRoot: true });
  expect(confinement.user).not.toBeNull();
  expect(refusalOf(confinement)).toBeNull();
});

test('a server of another user needs no other user', async () => {
  const { user } = await confine({ ...options, isRoot: false, executablePath: null });
  expect(user).toBeNull();
});
