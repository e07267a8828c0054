import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A page with what a person considers its main content. */
export interface LabelledPage {
  readonly id: string;
  readonly url: string;
  readonly type: string;
  readonly html: string;
  readonly reference: string;
  readonly truth: {
    readonly title: string | null;
    readonly author: string | null;
    readonly publish_date: string | null;
  };
  /** Which half it falls into, by the hash of its id. */
  readonly half: 0 | 1;
}

/** Reads a folder with `html/ID.html.gz` and `ground-truth/ID.json`. */
export function readPages(folder: string): LabelledPage[] {
  return readdirSync(join(folder, 'ground-truth'))
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => {
      const id = name.slice(0, -'.json'.length);
      const entry = JSON.parse(readFileSync(join(folder, 'ground-truth', name), 'utf8'));
      const hash = createHash('sha256').update(id).digest();
      return {
        id,
        url: entry.url,
        type: entry._internal.page_type.primary,
        html: gunzipSync(readFileSync(join(folder, 'html', `${id}.html.gz`))).toString('utf8'),
        reference: entry.ground_truth.main_content ?? '',
        truth: entry.ground_truth,
        half: ((hash[0] as number) & 1) as 0 | 1,
      };
    });
}
