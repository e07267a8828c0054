import type { Artifact, PageResult } from '../../capabilities/jobs/results/page-result.ts';

/** The page with whole addresses in place of paths. */
export function withOrigin<T extends PageResult>(page: T, origin: string): T {
  const { screenshot, pdf, xhr, actions, error } = page;
  const whole = <A extends Artifact | null>(artifact: A): A =>
    artifact === null ? artifact : { ...artifact, url: `${origin}${artifact.url}` };
  return {
    ...page,
    ...(screenshot === undefined ? {} : { screenshot: whole(screenshot) }),
    ...(pdf === undefined ? {} : { pdf: whole(pdf) }),
    ...(xhr == null
      ? {}
      : { xhr: xhr.map((each) => (each.body ? { ...each, body: whole(each.body) } : each)) }),
    ...(error?.details === undefined
      ? {}
      : {
          error: {
            ...error,
            details: {
              ...error.details,
              ...(error.details.screenshot === undefined
                ? {}
                : { screenshot: whole(error.details.screenshot) }),
              ...(error.details.html === undefined ? {} : { html: whole(error.details.html) }),
            },
          },
        }),
    ...(actions === undefined
      ? {}
      : {
          actions: actions.map((each) =>
            each.screenshot === undefined ? each : { ...each, screenshot: whole(each.screenshot) },
          ),
        }),
  };
}

export async function* eachWithOrigin(
  pages: AsyncIterable<PageResult>,
  origin: string,
): AsyncGenerator<PageResult> {
  for await (const page of pages) yield withOrigin(page, origin);
}
