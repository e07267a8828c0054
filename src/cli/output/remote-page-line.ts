import type { Artifact } from '../../capabilities/jobs/artifact.ts';
import type { PageResult } from '../../capabilities/jobs/page-result.ts';
import { type WrittenArtifact, writeBytes } from './page-artifacts.ts';

/** The line of a page that a server has fetched; its pictures, documents and answers are written to files. */
export async function remotePageLine(page: PageResult, dir: string): Promise<string> {
  const kept = async (name: string, artifact: Artifact | null | undefined) => {
    if (artifact == null) return artifact;
    const { contentType, bytes, base64 } = artifact;
    if (base64 == null) return { file: null, contentType, bytes } satisfies WrittenArtifact;
    return writeBytes({ name, contentType, base64 }, page.url, dir);
  };
  const { screenshot, pdf, xhr, actions, ...rest } = page;
  const line = {
    ...rest,
    screenshot: await kept('screenshot', screenshot),
    pdf: await kept('pdf', pdf),
    xhr:
      xhr &&
      (await Promise.all(
        xhr.map(async (each, at) => ({ ...each, body: await kept(`xhr-${at}`, each.body) })),
      )),
    actions:
      actions &&
      (await Promise.all(
        actions.map(async (each, at) => ({
          ...each,
          screenshot: await kept(`action-${at}`, each.screenshot),
        })),
      )),
  };
  return `${JSON.stringify(line)}\n`;
}
