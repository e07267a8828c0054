import { BadAnswerError } from './errors.ts';

/** The most that is read of the body of an error. */
const MOST_ERROR_BYTES = 1024 ** 2;

/** `data` of an answer of the API. Throws BadAnswerError when the body is none. */
export async function dataOf<T>(response: Response, mostBytes: number): Promise<T> {
  const { text, isWhole } = await textOf(response, mostBytes);
  if (!isWhole) throw new BadAnswerError(`The answer has more than ${mostBytes} bytes.`);
  const answer = parsedLine<{ data?: T } | null>(text);
  const data = answer?.data;
  if (!isObject(data)) throw new BadAnswerError('The answer is JSON without the data of an answer.');
  return data;
}

/** The beginning of the body of an error; empty where the body breaks off. */
export async function errorTextOf(response: Response): Promise<string> {
  return textOf(response, MOST_ERROR_BYTES).then(
    ({ text }) => text,
    () => '',
  );
}

/** Throws BadAnswerError when the answer is of another content type, such as the HTML page of a proxy. */
export async function checkType(response: Response, wanted: string): Promise<void> {
  const type = response.headers.get('content-type') ?? '';
  if (wanted === '*/*' || type.toLowerCase().startsWith(wanted)) return;
  await response.body?.cancel().catch(() => undefined);
  throw new BadAnswerError(`The answer has the content type "${type}", not ${wanted}.`);
}

/** The value of a text of JSON. Throws BadAnswerError when the text is none. */
export function parsedLine<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new BadAnswerError('The answer is not JSON.', error);
  }
}

const isObject = <T>(value: T | undefined): value is T =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads no more than so many bytes; a longer body is cancelled. */
async function textOf(
  response: Response,
  mostBytes: number,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  if (response.body === null) return { text: '', isWhole: true };
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    parts.push(decoder.decode(value, { stream: true }));
    if (bytes <= mostBytes) continue;
    await reader.cancel().catch(() => undefined);
    return { text: parts.join(''), isWhole: false };
  }
  parts.push(decoder.decode());
  return { text: parts.join(''), isWhole: true };
}
