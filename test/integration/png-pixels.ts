import { inflateSync } from 'node:zlib';

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue. */
  at(x: number, y: number): readonly [number, number, number];
}

const SIGNATURE = '89504e470d0a1a0a';

/** Reads a PNG of eight bits per channel down to its pixels; throws when a byte is not as it should be. */
export function pixelsOf(png: Buffer): Pixels {
  if (png.subarray(0, 8).toString('hex') !== SIGNATURE) throw new Error('Not a PNG.');
  const parts: Buffer[] = [];
  let header: Buffer | undefined;
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const data = png.subarray(at + 8, at + 8 + length);
    const type = png.toString('latin1', at + 4, at + 8);
    if (type === 'IHDR') header = data;
    if (type === 'IDAT') parts.push(data);
    at += length + 12;
  }
  if (header === undefined) throw new Error('No header.');
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = header[9] === 6 ? 4 : 3;
  const rows = unfiltered(inflateSync(Buffer.concat(parts)), width * channels, height, channels);
  return {
    width,
    height,
    at(x, y) {
      const first = y * width * channels + x * channels;
      return [rows[first] ?? 0, rows[first + 1] ?? 0, rows[first + 2] ?? 0];
    },
  };
}

/** PNG specification, 9: each byte is kept as its difference from its neighbours, in a way that the row names. */
function unfiltered(raw: Buffer, rowBytes: number, height: number, channels: number): Uint8Array {
  if (raw.length !== (rowBytes + 1) * height) throw new Error('Rows are missing.');
  const made = new Uint8Array(rowBytes * height);
  const look = (row: number, at: number): number =>
    row < 0 || at < 0 ? 0 : (made[row * rowBytes + at] ?? 0);
  for (let row = 0; row < height; row++) {
    const filter = raw[row * (rowBytes + 1)] ?? 0;
    for (let at = 0; at < rowBytes; at++) {
      const left = look(row, at - channels);
      const above = look(row - 1, at);
      const corner = at < channels ? 0 : look(row - 1, at - channels);
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0;
      made[row * rowBytes + at] = (raw[row * (rowBytes + 1) + 1 + at] ?? 0) + guess;
    }
  }
  return made;
}

function paeth(left: number, above: number, corner: number): number {
  const estimate = left + above - corner;
  const [toLeft, toAbove, toCorner] = [left, above, corner].map((value) => Math.abs(estimate - value)) as [
    number,
    number,
    number,
  ];
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}
