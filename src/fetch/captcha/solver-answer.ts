/** What a service that solves puzzles or pages answered; `value` is undefined for what is no JSON, or is too long. */
export async function jsonWithin(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly isTooLong: boolean; readonly value: unknown }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > maxBytes) return { isTooLong: true, value: undefined };
    chunks.push(chunk);
  }
  try {
    return { isTooLong: false, value: JSON.parse(Buffer.concat(chunks).toString('utf8')) };
  } catch {
    return { isTooLong: false, value: undefined };
  }
}

/** Basic authentication with the login of a URL, for services behind a gateway; none where it has no login. */
export function loginHeader({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
}
