import { pathOf } from '../../api/client.ts';

/** The address of the page of a URL in a job. */
export const pageHref = (jobId: string, url: string): string =>
  pathOf('/jobs/{id}/url', { id: jobId }, { u: url });

/** Where a stored page is shown without scripts and without requests. */
export const previewHref = (jobId: string, page: string): string =>
  pathOf('/v1/jobs/{id}/pages/{page}/preview', { id: jobId, page });

/** An artifact at this server, whatever name the server has in its answers: the session's cookie is for this one. */
export function artifactHref(url: string): string {
  const { pathname, search } = new URL(url, location.origin);
  return pathname + search;
}
