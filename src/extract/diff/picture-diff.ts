import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** How two pictures differ, without the picture of it. */
export interface PictureSummary {
  readonly before: PictureSize;
  readonly after: PictureSize;
  /** Null when the pictures were not compared. */
  readonly changedPixels: number | null;
  /** Changed pixels of all, 0 to 1; null when the pictures were not compared. Where one picture is larger, what it has more counts as changed. */
  readonly share: number | null;
  /** Rectangles around what changed, from top to bottom; neighbours are joined. */
  readonly boxes: readonly Box[];
  /** Why the pictures were not compared pixel by pixel: their bytes differ, and that is all that is known. */
  readonly problem?: 'too-large' | 'not-png';
}

export interface PictureDiff extends PictureSummary {
  /** PNG of the later picture in grey, with what changed in red; null when nothing was compared. */
  readonly picture: Uint8Array | null;
}

/** Limit for the padded picture; three of this size are in memory at once, with 4 bytes a pixel. */
export const MOST_PIXELS = 12_000_000;
const MOST_SIDE = 32_767;
const MOST_BYTES = 67_108_864;
/** Difference of two colours, 0 to 1, from which on they count as different. */
const COLOUR_THRESHOLD = 0.1;
const MOST_BOXES = 50;
/** Changes that are this near to each other are one box. */
const CELL_PX = 16;

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const HEADER_BYTES = 29;
const INTERLACE_AT = 28;

/** The size that the header of a PNG states; null for anything else. */
export function pngSize(bytes: Uint8Array): PictureSize | null {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, HEADER_BYTES));
  if (header.length < HEADER_BYTES || !header.subarray(0, 8).equals(SIGNATURE)) return null;
  if (header.toString('latin1', 12, 16) !== 'IHDR') return null;
  const [width, height] = [header.readUInt32BE(16), header.readUInt32BE(20)];
  return width === 0 || height === 0 ? null : { width, height };
}

/**
 * Compares two PNGs pixel by pixel. Pictures of different sizes are padded at the right and at the bottom. Edges that
 * were merely smoothed otherwise are no change. It holds both pictures and their difference decoded, four bytes a pixel
 * each, and blocks its thread meanwhile, so it belongs into a thread of its own.
 */
export function diffPictures(a: Uint8Array, b: Uint8Array): PictureDiff {
  const [before, after] = [pngSize(a), pngSize(b)];
  const none = { width: 0, height: 0 };
  const sizes = { before: before ?? none, after: after ?? none };
  const unknown = { ...sizes, changedPixels: null, share: null, boxes: [], picture: null };
  if (before === null || after === null || isInterlaced(a) || isInterlaced(b)) {
    return { ...unknown, problem: 'not-png' };
  }
  const width = Math.max(before.width, after.width);
  const height = Math.max(before.height, after.height);
  const isLarge = Math.max(width, height) > MOST_SIDE || width * height > MOST_PIXELS;
  if (isLarge || Math.max(a.byteLength, b.byteLength) > MOST_BYTES)
    return { ...unknown, problem: 'too-large' };
  const pixels = [pixelsOf(a, width, height), pixelsOf(b, width, height)] as const;
  if (pixels[0] === null || pixels[1] === null) return { ...unknown, problem: 'not-png' };
  const picture = new PNG({ width, height });
  const options = { threshold: COLOUR_THRESHOLD, diffMask: false, aaColor: GREY, diffColor: RED };
  pixelmatch(pixels[0], pixels[1], picture.data, width, height, options);
  markPadding(picture.data, width, height, before, after);
  const { changedPixels, boxes } = boxesIn(picture.data, width, height);
  return {
    ...sizes,
    changedPixels,
    share: changedPixels / (width * height),
    boxes,
    picture: changedPixels === 0 ? null : new Uint8Array(PNG.sync.write(picture)),
  };
}

const RED: [number, number, number] = [255, 0, 0];
/** Smoothed edges are drawn like everything that did not change. */
const GREY: [number, number, number] = [200, 200, 200];

/** The decoder inflates interlaced pictures without a limit; browsers make none. */
const isInterlaced = (bytes: Uint8Array): boolean => bytes[INTERLACE_AT] !== 0;

/** RGBA of the picture in the upper left of a transparent one; null when it cannot be decoded. */
function pixelsOf(bytes: Uint8Array, width: number, height: number): Uint8Array | null {
  try {
    const png = PNG.sync.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    if (png.width === width && png.height === height) return png.data;
    const padded = new Uint8Array(width * height * 4);
    const row = png.width * 4;
    for (let y = 0; y < png.height; y += 1)
      padded.set(png.data.subarray(y * row, (y + 1) * row), y * width * 4);
    return padded;
  } catch {
    return null;
  }
}

/** What only one of the pictures has is changed, whatever its colour. */
function markPadding(data: Uint8Array, width: number, height: number, a: PictureSize, b: PictureSize): void {
  if (a.width === b.width && a.height === b.height) return;
  const isIn = (x: number, y: number, size: PictureSize): boolean => x < size.width && y < size.height;
  for (let y = 0; y < height; y += 1) {
    const isShared = y < Math.min(a.height, b.height);
    for (let x = isShared ? Math.min(a.width, b.width) : 0; x < width; x += 1) {
      if (isIn(x, y, a) !== isIn(x, y, b)) data.set([...RED, 255], (y * width + x) * 4);
    }
  }
}

/** Boxes around red pixels: cells of a grid that have some, joined with their neighbours. */
function boxesIn(data: Uint8Array, width: number, height: number): { changedPixels: number; boxes: Box[] } {
  const columns = Math.ceil(width / CELL_PX);
  const cells = new Uint8Array(columns * Math.ceil(height / CELL_PX));
  let changedPixels = 0;
  for (let y = 0, at = 0; y < height; y += 1) {
    const row = Math.floor(y / CELL_PX) * columns;
    for (let x = 0; x < width; x += 1, at += 4) {
      if (data[at] !== 255 || data[at + 1] !== 0 || data[at + 2] !== 0) continue;
      changedPixels += 1;
      cells[row + Math.floor(x / CELL_PX)] = 1;
    }
  }
  return { changedPixels, boxes: joinCells(cells, columns, { width, height }) };
}

function joinCells(cells: Uint8Array, columns: number, { width, height }: PictureSize): Box[] {
  const boxes: Box[] = [];
  for (let first = 0; first < cells.length; first += 1) {
    if (cells[first] !== 1) continue;
    let [left, right, top, bottom] = [columns, 0, cells.length, 0];
    const open = [first];
    cells[first] = 2;
    for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
      const [column, row] = [cell % columns, Math.floor(cell / columns)];
      [left, right] = [Math.min(left, column), Math.max(right, column)];
      [top, bottom] = [Math.min(top, row), Math.max(bottom, row)];
      for (let dy = -1; dy <= 1; dy += 1) {
        for (let dx = -1; dx <= 1; dx += 1) {
          const next = cell + dy * columns + dx;
          if (column + dx < 0 || column + dx >= columns || cells[next] !== 1) continue;
          cells[next] = 2;
          open.push(next);
        }
      }
    }
    const [x, y] = [left * CELL_PX, top * CELL_PX];
    const box = {
      x,
      y,
      width: Math.min(width, (right + 1) * CELL_PX) - x,
      height: Math.min(height, (bottom + 1) * CELL_PX) - y,
    };
    const last = boxes.at(-1);
    if (boxes.length < MOST_BOXES || last === undefined) boxes.push(box);
    else boxes[boxes.length - 1] = around(last, box);
  }
  return boxes;
}

function around(one: Box, other: Box): Box {
  const [x, y] = [Math.min(one.x, other.x), Math.min(one.y, other.y)];
  const right = Math.max(one.x + one.width, other.x + other.width);
  const bottom = Math.max(one.y + one.height, other.y + other.height);
  return { x, y, width: right - x, height: bottom - y };
}
