import { asScrapifieError, isScrapifieError } from '../core/errors/scrapifie-error.ts';

/** `error CODE: message`, for people and for scripts that look for the code. A stack only where debugging is on. */
export function describeFailure(error: unknown, environment: NodeJS.ProcessEnv): string {
  const { code, message, details } = asScrapifieError(error);
  // A fault has no sentence of its own; here the person in front of the screen is the operator and may see it.
  const isFault = !isScrapifieError(error);
  const told = isFault && error instanceof Error ? `${message} (${error.name}: ${error.message})` : message;
  const lines = [`error ${code}: ${told}`, ...attemptsOf(details)];
  if (/^(?:debug|trace)$/i.test(environment.SCRAPIFIE_LOG_LEVEL ?? '') && error instanceof Error) {
    lines.push(error.stack ?? '');
    if (error.cause instanceof Error) lines.push(`caused by ${error.cause.stack ?? error.cause.message}`);
  } else if (isFault) {
    lines.push('  SCRAPIFIE_LOG_LEVEL=debug shows where.');
  }
  return `${lines.join('\n')}\n`;
}

/** What was tried before a page was given up, where the details say so; the rest of them repeats the message. */
function attemptsOf(details: unknown): string[] {
  if (typeof details !== 'object' || details === null) return [];
  const { rule, attempts } = details as { rule?: unknown; attempts?: unknown };
  const lines = typeof rule === 'string' ? [`  rule ${rule}`] : [];
  if (!Array.isArray(attempts)) return lines;
  return [
    ...lines,
    ...attempts.map(({ engine, outcome, errorCode, statusCode, ms }, index) => {
      const ended = errorCode ?? (statusCode === null ? outcome : `${outcome}, status ${statusCode}`);
      return `  attempt ${index + 1} by ${engine}: ${ended}, ${ms} ms`;
    }),
  ];
}
