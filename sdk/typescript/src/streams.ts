import { ConnectionError } from './errors.ts';

/** Lines of a body as they come, without their ends. Throws ConnectionError when the body breaks off. */
export async function* linesOf(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
    }
  } catch (error) {
    throw new ConnectionError('The stream broke off.', error);
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  if (rest !== '') yield rest;
}

export async function* objectsOf<T>(response: Response): AsyncGenerator<T> {
  for await (const line of linesOf(response)) if (line !== '') yield JSON.parse(line) as T;
}

/** An event of a stream. `id` is missing where the stream cannot go on behind the event. */
export interface StreamedEvent {
  readonly id: string | null;
  readonly type: string;
  readonly data: unknown;
}

/** Events of a server-sent stream, by the rules of the HTML standard. */
export async function* eventsOf(response: Response): AsyncGenerator<StreamedEvent> {
  let [id, type, data]: [string | null, string, string[]] = [null, '', []];
  for await (const line of linesOf(response)) {
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
