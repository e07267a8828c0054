import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScrapeResult } from '../../capabilities/jobs/results/job-reader.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { RenderedRecord } from '../../core/model/page.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import { createBlobsFs } from '../../drivers/blobs-fs/blobs-fs.ts';
import { putIntoFiles, writeArtifacts } from './output-files.ts';

const dir = mkdtempSync(join(tmpdir(), 'scrapifie-artifacts-'));
let blobs: Blobs;
beforeAll(async () => {
  blobs = await createBlobsFs({ dir: join(dir, 'blobs') });
});
afterAll(async () => {
  await blobs.close();
  rmSync(dir, { recursive: true, force: true });
});

async function stored(text: string, contentType: string) {
  const bytes = Buffer.from(text);
  const contentHash = createHash('sha256').update(bytes).digest('hex') as ContentHash;
  await blobs.put([{ hash: contentHash, bytes }]);
  return { contentHash, contentType, bytes: bytes.length };
}

describe('the artifacts of a crawled page', () => {
  it('are files beside the pages, each named after its page and what it is', async () => {
    const out = join(dir, 'artifacts');
    const rendered: RenderedRecord = {
      screenshot: await stored('png', 'image/png'),
      pdf: await stored('pdf', 'application/pdf'),
      actions: [
        { type: 'press', ms: 1 },
        { type: 'screenshot', ms: 1, picture: await stored('jpg', 'image/jpeg') },
      ],
    };
    const url = 'https://a.example/shop/../../etc/passwd?q=/..//x';
    const written = await writeArtifacts(rendered, url, out, blobs);
    expect([...written.keys()]).toEqual(['screenshot', 'pdf', 'action-1']);
    for (const [name, { file }] of written) {
      expect(file).toMatch(
        new RegExp(
          `^artifacts/a\\.example-etc-passwd-[0-9a-f]{16}\\.${name === 'pdf' ? 'pdf' : `${name}\\.(png|jpg)`}$`,
        ),
      );
      expect(readFileSync(join(dir, file ?? ''), 'utf8')).toBe(file?.slice(-3));
    }
    expect(readdirSync(out)).toHaveLength(3);
  });

  it('are written again where half a file lies, and told to be gone where the bytes are', async () => {
    const out = join(dir, 'again');
    const screenshot = await stored('a picture', 'image/png');
    const first = await writeArtifacts({ screenshot }, 'http://a.example/', out, blobs);
    const path = join(dir, first.get('screenshot')?.file ?? '');
    writeFileSync(path, 'half');
    await writeArtifacts({ screenshot }, 'http://a.example/', out, blobs);
    expect(readFileSync(path, 'utf8')).toBe('a picture');
    const gone = { ...screenshot, contentHash: '00'.repeat(32) as ContentHash };
    const lost = await writeArtifacts({ pdf: gone }, 'http://a.example/', out, blobs);
    expect(lost.get('pdf')).toMatchObject({ file: null });
  });

  it('that cannot be written say where', async () => {
    writeFileSync(join(dir, 'file'), '');
    const screenshot = await stored('png', 'image/png');
    const writing = writeArtifacts({ screenshot }, 'http://a.example/', join(dir, 'file'), blobs);
    await expect(writing).rejects.toMatchObject({ code: 'DATA_DIR_UNUSABLE' });
  });
});

describe('the artifacts of a scraped page', () => {
  const artifact = (text: string) => ({
    url: '/v1/jobs/x',
    contentType: 'image/png',
    bytes: text.length,
    base64: Buffer.from(text).toString('base64'),
  });
  const result = (more: object) => ({ url: 'http://a.example/', ...more }) as unknown as ScrapeResult;

  it('go into the files that were named, and the others stay in the result', async () => {
    const path = join(dir, 'shots', 'one.png');
    const given = result({
      screenshot: artifact('png'),
      pdf: artifact('pdf'),
      actions: [{ type: 'screenshot', ms: 1, screenshot: artifact('step') }],
    });
    const { page, missing } = await putIntoFiles(given, { screenshot: path, pdf: null });
    expect(readFileSync(path, 'utf8')).toBe('png');
    expect(missing).toEqual([]);
    expect(page).toMatchObject({
      screenshot: { file: path, contentType: 'image/png', bytes: 3 },
      pdf: { base64: artifact('pdf').base64 },
      actions: [{ screenshot: { base64: artifact('step').base64 } }],
    });
    expect(JSON.stringify(page)).not.toContain('/v1/jobs');
    expect(JSON.stringify(page)).not.toContain(artifact('png').base64);
  });

  it('that were wanted and are not there are told', async () => {
    const wanted = { screenshot: join(dir, 'no.png'), pdf: join(dir, 'no.pdf') };
    const { missing, page } = await putIntoFiles(result({ screenshot: null, pdf: null }), wanted);
    expect(missing).toEqual(['screenshot', 'pdf']);
    expect(page).toMatchObject({ screenshot: null, pdf: null });
  });
});
