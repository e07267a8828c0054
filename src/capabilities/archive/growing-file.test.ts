import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openGrowingFile } from './growing-file.ts';

const dir = mkdtempSync(join(tmpdir(), 'scrapifie-growing-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const path = join(dir, 'a.warc.gz');

describe('a growing file', () => {
  it('shows what was published, and nothing else', async () => {
    const file = await openGrowingFile(path);
    await file.append(Buffer.from('one '));
    expect(existsSync(path)).toBe(false);
    await file.publish();
    expect(readFileSync(path, 'utf8')).toBe('one ');
    await file.append(Buffer.from('two '));
    await file.append(Buffer.from('three '));
    expect(readFileSync(path, 'utf8')).toBe('one ');
    await file.publish();
    await file.append(Buffer.from('four '));
    await file.publish();
    expect(readFileSync(path, 'utf8')).toBe('one two three four ');
    expect(file).toMatchObject({ bytes: 19, publishedBytes: 19 });
    await file.append(Buffer.from('five '));
    await file.close();
    expect(readFileSync(path, 'utf8')).toBe('one two three four ');
    expect(readdirSync(dir)).toEqual(['a.warc.gz']);
  });

  it('goes on where it was, whatever a killed process has left beside it', async () => {
    writeFileSync(join(dir, '.a.warc.gz.next'), 'one two three four fi');
    writeFileSync(join(dir, '.a.warc.gz.last'), 'one two');
    const file = await openGrowingFile(path);
    await file.append(Buffer.from('six'));
    await file.publish();
    await file.close();
    expect(readFileSync(path, 'utf8')).toBe('one two three four six');
    expect(readdirSync(dir)).toEqual(['a.warc.gz']);
  });
});
