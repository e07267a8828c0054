import { describe, expect, test } from 'vitest';
import { diskError, errnoOf } from './disk-error.ts';

const failed = (code: string) => Object.assign(new Error(`${code}: it failed`), { code, errno: -1 });

describe('a failed file operation', () => {
  test.each([
    ['ENOSPC', 'DISK_FULL'],
    ['EDQUOT', 'DISK_FULL'],
    ['EACCES', 'DATA_DIR_UNUSABLE'],
    ['EPERM', 'DATA_DIR_UNUSABLE'],
    ['EROFS', 'DATA_DIR_UNUSABLE'],
    ['ENOTDIR', 'DATA_DIR_UNUSABLE'],
    ['EIO', 'STORE_UNAVAILABLE'],
    ['EMFILE', 'STORE_UNAVAILABLE'],
  ])('%s becomes %s and names the folder', (errno, code) => {
    const cause = failed(errno);
    expect(diskError(cause, '/data/blobs')).toMatchObject({
      code,
      cause,
      message: expect.stringContaining(`/data/blobs (${errno})`),
    });
  });

  test('is told from a fault of our own, which stays as it is', () => {
    const fault = new TypeError('Not a content hash.');
    expect(diskError(fault, '/data/blobs')).toBe(fault);
    expect(errnoOf(Object.assign(new Error('zlib'), { code: 'ERR_X' }))).toBeNull();
  });
});
