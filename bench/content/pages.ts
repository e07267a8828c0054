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
  /** The site it is from: pages of one site are alike. */
  readonly site: string;
}

/** Reads a folder with `html/ID.html.gz` and `ground-truth/ID.json`. */
export function readPages(folder: string): LabelledPage[] {
  return readdirSync(join(folder, 'ground-truth'))
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => {
      const id = name.slice(0, -'.json'.length);
      const entry = JSON.parse(readFileSync(join(folder, 'ground-truth', name), 'utf8'));
      return {
        id,
        url: entry.url,
        type: entry._internal.page_type.primary,
        html: gunzipSync(readFileSync(join(folder, 'html', `${id}.html.gz`))).toString('utf8'),
        reference: entry.ground_truth.main_content ?? '',
        truth: entry.ground_truth,
        site: siteOf(entry.url) ?? id,
      };
    });
}

/** The registrable part of the host, told by its length: `co.uk` and the like count one more. */
function siteOf(url: string): string | null {
  const labels = URL.parse(url)?.hostname.split('.') ?? [];
  if (labels.length < 2) return null;
  return labels.slice((labels.at(-2) as string).length <= 3 && labels.length > 2 ? -3 : -2).join('.');
}
