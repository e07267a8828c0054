import type { JobId, TaskId } from '../../../core/model/ids.ts';
import type { ArtifactRef, RenderedRecord } from '../../../core/model/page.ts';

/** A picture, a document or an answer that belongs to a page, as clients see it. */
export interface Artifact {
  /** Where it can be fetched with an API key; a path of the API. */
  readonly url: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Only when the job asked for it; null when the bytes are gone. */
  readonly base64?: string | null;
}

export interface NamedArtifact extends ArtifactRef {
  /** `screenshot`, `pdf`, `failure-html`, `action-2`, `xhr-5`: with the place in its list, from 0. */
  readonly name: string;
}

/** Everything of a shown page that lies in the blob store, but for its documents. */
export function artifactsOf(rendered: RenderedRecord): NamedArtifact[] {
  const { screenshot, pdf, actions = [], xhr = [], failure } = rendered;
  return [
    ...(screenshot === undefined ? [] : [{ name: 'screenshot', ...screenshot }]),
    ...(pdf === undefined ? [] : [{ name: 'pdf', ...pdf }]),
    ...(failure?.screenshot === undefined ? [] : [{ name: 'failure-screenshot', ...failure.screenshot }]),
    ...(failure?.html === undefined ? [] : [{ name: 'failure-html', ...failure.html }]),
    ...actions.flatMap(({ picture }, at) =>
      picture === undefined ? [] : [{ name: `action-${at}`, ...picture }],
    ),
    ...xhr.flatMap(({ body }, at) => (body === undefined ? [] : [{ name: `xhr-${at}`, ...body }])),
  ];
}

export const artifactPath = (jobId: JobId, taskId: TaskId, name: string): string =>
  `/v1/jobs/${jobId}/pages/${taskId}/artifacts/${name}`;

const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'text/html': 'html',
  'text/plain': 'txt',
};

/** How the name of a file with such contents ends. */
export function endingFor(contentType: string): string {
  return ENDINGS[contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''] ?? 'bin';
}
