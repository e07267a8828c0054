import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const PLATFORM = fileURLToPath(new URL('../../wiring/platform.ts', import.meta.url));
const DRIVER = fileURLToPath(new URL('./blobs-s3.ts', import.meta.url));

/** How many files of the AWS SDK a process has loaded after this code. */
async function sdkFilesAfter(code: string): Promise<number> {
  const script = `${code}
    const { createRequire } = await import('node:module');
    const path = createRequire(${JSON.stringify(PLATFORM)}).resolve('@aws-sdk/client-s3');
    console.log(Object.keys(createRequire(path).cache).filter((each) => each.includes('@aws-sdk')).length);
    process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  return Number(stdout.trim());
}

test('the AWS SDK is loaded when an object store is opened, and not with the rest of the program', async () => {
  expect(await sdkFilesAfter(`await import(${JSON.stringify(PLATFORM)});`)).toBe(0);
  const open = `const { createBlobsS3 } = await import(${JSON.stringify(DRIVER)});
    await createBlobsS3({ url: 'http://key:secret@127.0.0.1:1/bucket', now: Date.now, random: Math.random });`;
  expect(await sdkFilesAfter(open)).toBeGreaterThan(0);
});
