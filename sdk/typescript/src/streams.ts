import { parsedLine } from './bodies.ts';
import { BadAnswerError, ConnectionError } from './errors.ts';

/**
 * Lines of a body as they come, without their ends. Throws ConnectionError when the body breaks off, and BadAnswerError for
 * a line that is longer than `mostChars`.
 */
async function* linesOf(response: Response, mostChars: number): AsyncGenerator<string> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        throw new ConnectionError('The stream broke off.', error);
      });
      if (done) break;
      const lines = value.includes('\n') ? (rest + value).split('\n') : [rest + value];
      rest = lines.pop() ?? '';
      if (rest.length > mostChars)
        throw new BadAnswerError(`A line of the stream has more than ${mostChars} characters.`);
      for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  if (rest !== '') yield rest;
}

export async function* objectsOf<T>(response: Response, mostChars: number): AsyncGenerator<T> {
  for await (const line of linesOf(response, mostChars)) if (line !== '') yield parsedLine<T>(line);
}

/** An event of a stream. `id` is missing where the stream cannot go on behind the event. */
export interface StreamedEvent {
  readonly id: string | null;
  readonly type: string;
  readonly data: unknown;
}

/** Events of a server-sent stream, by the rules of the HTML standard. */
export async function* eventsOf(response: Response, mostChars: number): AsyncGenerator<StreamedEvent> {
  let [id, type, data]: [string | null, string, string[]] = [null, '', []];
  for await (const line of linesOf(response, mostChars)) {
    if (line === '') {
      if (data.length > 0) yield { id, type: type === '' ? 'message' : type, data: parsed(data.join('\n')) };
      [id, type, data] = [null, '', []];
      continue;
    }
    if (line.startsWith(':')) continue;
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'id') id = value;
    else if (field === 'event') type = value;
    else if (field === 'data') data.push(value);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
