import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

/**
 * A secret from standard input, or typed without echo; never an argument, which every process could read. Of a
 * pipe everything counts but the final line end; typed input ends with the line, or with an empty one for
 * several lines.
 */
export async function readSecret(
  prompt: string,
  { input, output }: { input: NodeJS.ReadStream; output: NodeJS.WriteStream },
  hasLines: boolean,
): Promise<string> {
  if (!input.isTTY) return (await text(input)).replace(/\r?\n$/, '');
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: silence, terminal: true });
  try {
    const typed: string[] = [];
    do {
      output.write(typed.length === 0 ? prompt : '> ');
      typed.push(await lines.question(''));
      output.write('\n');
    } while (hasLines && typed.at(-1) !== '');
    return typed.join('\n').trimEnd();
  } finally {
    lines.close();
  }
}
