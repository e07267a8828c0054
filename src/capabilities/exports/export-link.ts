import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Export } from '../../core/model/export.ts';

/** How long a link works. */
export const LINK_MS = 3_600_000;

export const newSecret = (): string => randomBytes(32).toString('base64url');

const signatureOf = ({ id, secret }: Pick<Export, 'id' | 'secret'>, expires: number): Buffer =>
  createHmac('sha256', secret).update(`${id}\n${expires}`).digest();

/**
 * The path of the file with a signature in place of an API key. It works for an hour, and ends with the export: each has a
 * secret of its own.
 */
export function signedPath(of: Pick<Export, 'id' | 'secret'>, now: number): string {
  const expires = Math.ceil((now + LINK_MS) / 1_000);
  const signature = signatureOf(of, expires).toString('base64url');
  return `/v1/exports/${of.id}/download?expires=${expires}&signature=${signature}`;
}

/** `wrong`: it was not made for this export. */
export function checkLink(
  of: Pick<Export, 'id' | 'secret'>,
  { expires, signature }: { readonly expires: number; readonly signature: string },
  now: number,
): 'valid' | 'expired' | 'wrong' {
  const given = Buffer.from(signature, 'base64url');
  const right = signatureOf(of, expires);
  if (given.length !== right.length || !timingSafeEqual(given, right)) return 'wrong';
  return expires * 1_000 < now ? 'expired' : 'valid';
}
