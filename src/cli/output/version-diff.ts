import type { VersionDiffView } from '../../capabilities/views/snapshot-view.ts';
import type { FieldChange } from '../../extract/diff/json-diff.ts';
import type { PictureSummary } from '../../extract/diff/picture-diff.ts';
import type { TextDiff } from '../../extract/diff/text-diff.ts';
import { describeShare } from '../../lib/human-units.ts';

/** How two contents of a page differ, for people. Empty when they do not. */
export function describeVersionDiff(found: VersionDiffView): string {
  if (!found.isChanged) return '';
  switch (found.mode) {
    case 'rules': {
      const { fields, texts, picture } = found.diff;
      return [
        ...fields.map(fieldLine),
        ...texts.map(({ name, diff }) => `${name}:\n${words(diff)}`),
        ...(picture === null ? [] : [pictureLine(picture)]),
      ].join('');
    }
    case 'text':
    case 'word':
      return words(found.diff);
    case 'line':
      return lines(found.diff);
    case 'fields':
      return found.diff.map(fieldLine).join('');
    case 'html':
      return `${found.diff.html}\n`;
    case 'json':
      return `${JSON.stringify(found.diff.patch, null, 2)}\n`;
    case 'visual':
      return found.diff === null ? '' : pictureLine(found.diff);
  }
}

/** As `wdiff` writes them: what went in `[-…-]`, what came in `{+…+}`. */
function words({ segments }: TextDiff): string {
  const marks = { same: ['', ''], removed: ['[-', '-]'], added: ['{+', '+}'], skipped: [' … ', ''] } as const;
  const text = segments.map((segment) => marks[segment.kind].join(segment.text)).join('');
  return text.endsWith('\n') ? text : `${text}\n`;
}

function lines({ segments }: TextDiff): string {
  const signs = { same: ' ', removed: '-', added: '+', skipped: '' };
  return segments
    .map(({ kind, text }) => {
      if (kind === 'skipped') return ' …\n';
      const each = text.replace(/\n$/, '').split('\n');
      return each.map((line) => `${signs[kind]}${line}\n`).join('');
    })
    .join('');
}

const fieldLine = ({ field, before, after }: FieldChange): string =>
  `${field}: ${shownValue(before)} → ${shownValue(after)}\n`;

const SHOWN_CHARS = 60;

/** A value of a field on one line. */
export function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? value : value === null ? 'nothing' : JSON.stringify(value);
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}

function pictureLine({ share, boxes, problem }: PictureSummary): string {
  if (share === null) return `screenshot: other bytes, not compared (${problem ?? 'unknown'})\n`;
  const places = boxes.map(({ x, y, width, height }) => `${width}×${height} at ${x},${y}`);
  return `screenshot: ${describeShare(share)} of the pixels: ${places.join('; ')}\n`;
}
