import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { MessageLines } from './message-lines.ts';

const MOST_BYTES = 4_096;

/** What passes, and what is answered, when the lines come in chunks of this size. */
async function read(lines: readonly string[], chunkBytes: number) {
  const output = new PassThrough();
  const input = new MessageLines(output, MOST_BYTES);
  const [passed, answered] = [text(input), text(output)];
  const all = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  for (let at = 0; at < all.length; at += chunkBytes) input.write(all.subarray(at, at + chunkBytes));
  input.end();
  const found = (await passed).split('\n').slice(0, -1);
  output.end();
  const answers = (await answered).split('\n').slice(0, -1);
  return { passed: found, answers: answers.map((line) => JSON.parse(line)) };
}

const ping = (id: unknown) => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });
const params = { name: 'ü'.repeat(3_000) };

it.each([1, 7, 1_000_000])('messages pass in chunks of %i bytes, and others are answered', async (size) => {
  const { passed, answers } = await read(
    [
      ping(1),
      JSON.stringify({ jsonrpc: '2.0', id: 'first', method: 'x', params }),
      JSON.stringify({ method: 'x', params, jsonrpc: '2.0', id: 9 }),
      // The id of something within the parameters is not that of the request.
      JSON.stringify({ method: 'x', params: { ...params, jsonrpc: '2.0', id: 8 } }),
      '',
      '{',
      'null',
      JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: null }),
      ping(1.5),
      ping('ü'),
    ],
    size,
  );
  expect(passed).toEqual([ping(1), ping('ü')]);
  expect(answers.map(({ id, error }) => [id, error.code])).toEqual([
    ['first', -32_600],
    [9, -32_600],
    [null, -32_600],
    [null, -32_700],
    [null, -32_600],
    [3, -32_600],
    [null, -32_600],
  ]);
});
