import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import { diffPictures, pngSize } from './picture-diff.ts';

type Rectangle = readonly [x: number, y: number, width: number, height: number];

function picture(width: number, height: number, ...black: readonly Rectangle[]): Uint8Array {
  const png = new PNG({ width, height });
  png.data.fill(255);
  for (const [x, y, w, h] of black) {
    for (let row = y; row < y + h; row += 1) {
      for (let column = x; column < x + w; column += 1)
        png.data.set([0, 0, 0, 255], (row * width + column) * 4);
    }
  }
  return PNG.sync.write(png);
}

/** A PNG that states a size without having the pixels. */
function claiming(width: number, height: number): Uint8Array {
  const bytes = Buffer.from(picture(1, 1));
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

describe('a diff of pictures', () => {
  it('finds nothing between two that look the same', () => {
    const diff = diffPictures(picture(100, 80, [10, 10, 20, 20]), picture(100, 80, [10, 10, 20, 20]));
    expect(diff).toMatchObject({ changedPixels: 0, share: 0, boxes: [], picture: null });
  });

  it('has the share and the places of what changed, and a picture of it', () => {
    const diff = diffPictures(picture(320, 320), picture(320, 320, [0, 0, 16, 16], [160, 160, 32, 16]));
    expect(diff.changedPixels).toBe(16 * 16 + 32 * 16);
    expect(diff.share).toBeCloseTo(768 / 102_400);
    expect(diff.boxes).toEqual([
      { x: 0, y: 0, width: 16, height: 16 },
      { x: 160, y: 160, width: 32, height: 16 },
    ]);
    expect(pngSize(diff.picture ?? new Uint8Array())).toEqual({ width: 320, height: 320 });
  });

  it('pads the smaller one, and counts what only one of them has', () => {
    const diff = diffPictures(picture(100, 100), picture(100, 150));
    expect(diff).toMatchObject({
      before: { width: 100, height: 100 },
      after: { width: 100, height: 150 },
      changedPixels: 5_000,
      boxes: [{ x: 0, y: 96, width: 100, height: 54 }],
    });
  });

  it('does not decode pictures that are too large, whatever their bytes are', () => {
    for (const bytes of [claiming(1_280, 30_000), claiming(4_000_000_000, 4_000_000_000)]) {
      expect(diffPictures(bytes, picture(10, 10))).toMatchObject({
        problem: 'too-large',
        share: null,
        picture: null,
      });
    }
  });

  it('says so when something is no picture', () => {
    for (const bytes of [
      new Uint8Array(),
      Buffer.from('GIF89a'.repeat(10)),
      claiming(500, 500),
      picture(9, 9).subarray(0, 60),
    ]) {
      expect(diffPictures(bytes, picture(10, 10))).toMatchObject({ problem: 'not-png', picture: null });
    }
  });
});
