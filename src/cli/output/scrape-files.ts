import type { Artifact } from '../../capabilities/jobs/artifact.ts';
import type { ScrapeResult } from '../../capabilities/jobs/job-reader.ts';
import type { FailureDetails } from '../../capabilities/jobs/page-result.ts';
import { defined } from '../../lib/defined.ts';
import { writeWhole } from './page-artifacts.ts';

/** Where the person wants what; null: nowhere, it stays in the result. */
export interface WantedFiles {
  readonly screenshot: string | null;
  readonly pdf: string | null;
}

export interface FilledFiles {
  /** The result with the names of files, or the bytes themselves, in place of addresses. */
  readonly page: object;
  /** What was wanted and is not there. */
  readonly missing: readonly string[];
}

/** Writes what was asked for to files. Throws DISK_FULL or DATA_DIR_UNUSABLE with the file's name. */
export async function putIntoFiles(result: ScrapeResult, wanted: WantedFiles): Promise<FilledFiles> {
  const missing: string[] = [];
  const place = async (name: keyof WantedFiles) => {
    const artifact = result[name];
    const path = wanted[name];
    if (path !== null && !artifact?.base64) missing.push(name);
    if (artifact === undefined) return {};
    if (artifact === null) return { [name]: null };
    if (path === null || !artifact.base64) return { [name]: withoutUrl(artifact) };
    await writeWhole(path, Buffer.from(artifact.base64, 'base64'));
    const { contentType, bytes } = artifact;
    return { [name]: { file: path, contentType, bytes } };
  };
  const { xhr, actions, error } = result;
  const page = {
    ...result,
    ...(await place('screenshot')),
    ...(await place('pdf')),
    ...(xhr == null
      ? {}
      : {
          xhr: xhr.map((each) => (each.body === undefined ? each : { ...each, body: withoutUrl(each.body) })),
        }),
    ...(error?.details === undefined ? {} : { error: { ...error, details: shownDetails(error.details) } }),
    ...(actions === undefined
      ? {}
      : {
          actions: actions.map((each) =>
            each.screenshot === undefined ? each : { ...each, screenshot: withoutUrl(each.screenshot) },
          ),
        }),
  };
  return { page, missing };
}

function shownDetails({ step, screenshot, html }: FailureDetails): object {
  return {
    ...defined({ step }),
    ...(screenshot === undefined ? {} : { screenshot: withoutUrl(screenshot) }),
    ...(html === undefined ? {} : { html: withoutUrl(html) }),
  };
}

/** No server answers there. */
function withoutUrl({ url: _, ...artifact }: Artifact): Omit<Artifact, 'url'> {
  return artifact;
}
