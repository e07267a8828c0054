import type { FastifyRequest } from 'fastify';
import type { Artifact } from '../../capabilities/jobs/artifact.ts';
import type { PageResult } from '../../capabilities/jobs/page-result.ts';

/** A name or address with or without a port; nothing that could be more than that. */
const HOST = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Where the client reached this server, for addresses in answers to it. What a proxy in between says is believed:
 * a client that sends a false one only misleads itself. Empty when no valid origin was sent: links are paths then.
 */
export function originOf({ headers, protocol, host }: FastifyRequest): string {
  const forwardedHost = firstOf(headers['x-forwarded-host']);
  const name = forwardedHost ?? host;
  if (name === undefined || !HOST.test(name)) return '';
  const forwardedScheme = firstOf(headers['x-forwarded-proto']);
  const scheme = forwardedScheme === 'http' || forwardedScheme === 'https' ? forwardedScheme : protocol;
  return `${scheme}://${name}`;
}

function firstOf(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return text?.split(',', 1)[0]?.trim();
}

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
