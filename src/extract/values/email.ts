import { domainToASCII } from 'node:url';
import { fold } from './fold.ts';

export interface Email {
  /** `local@host`; the host in lower case and ASCII. */
  readonly value: string;
  /** Whether it was hidden from robots: `name [at] host dot com`. */
  readonly wasObfuscated: boolean;
}

const MAX_CHARS = 400;
const ADDRESS = /[\p{L}\p{N}!#$%&'*+/=?^_`{|}~.-]{1,64}@[\p{L}\p{N}.-]{3,253}/u;
const LOCAL = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const HOST = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{2,59})$/;
const AT =
  / ?(?:\[|\(|\{|<)\s?(?:at|ät|æt|a|@|arroba|chiocciola|arobase|malpa|małpa|zavinač|собака|snabel-a|klammeraffe)\s?(?:\]|\)|\}|>) ?/giu;
const DOT =
  / ?(?:\[|\(|\{|<)\s?(?:dot|punkt|point|punto|ponto|punt|kropka|tečka|точка|\.)\s?(?:\]|\)|\}|>) ?/giu;
const SPOKEN =
  /(?<=[\p{L}\p{N}]) (?:at|AT|arroba|chiocciola) (?=[\p{L}\p{N}.-]+ (?:dot|DOT|punkt|point|punto|ponto) )/u;
const SPOKEN_DOT = /(?<=[\p{L}\p{N}]) (?:dot|DOT|punkt|point|punto|ponto) (?=[\p{L}\p{N}])/gu;
/** Cloudflare's way to hide addresses: the first byte is the key for the rest. */
const HIDDEN = /(?:email-protection#|^)((?:[0-9a-f]{2}){6,150})$/i;

/** The first e-mail address of a text, also when it is hidden from simple robots; null when there is none. */
export function parseEmail(text: string): Email | null {
  const folded = decodeTarget(fold(text, MAX_CHARS));
  const hidden = HIDDEN.exec(folded)?.[1];
  if (hidden !== undefined) return addressIn(reveal(hidden), true);
  const plain = addressIn(folded, false);
  if (plain !== null) return plain;
  const spoken = SPOKEN.exec(folded);
  const written =
    spoken === null
      ? folded.replace(AT, '@').replace(DOT, '.')
      : `${folded.slice(0, spoken.index)}@${folded.slice(spoken.index + spoken[0].length)}`;
  return addressIn(written.replace(SPOKEN_DOT, '.').replace(DOT, '.').replace(/ ?@ ?/g, '@'), true);
}

function addressIn(text: string, wasObfuscated: boolean): Email | null {
  const match = ADDRESS.exec(text)?.[0];
  if (match === undefined) return null;
  const at = match.lastIndexOf('@');
  const local = match.slice(0, at).replace(/^['.]+/, '');
  const host = domainToASCII(match.slice(at + 1).replace(/[.-]+$/, '')).toLowerCase();
  if (!LOCAL.test(local) || !HOST.test(host)) return null;
  return { value: `${local}@${host}`, wasObfuscated };
}

/** `mailto:` with its escapes and without its subject. */
function decodeTarget(text: string): string {
  if (!/^mailto:/i.test(text)) return text;
  const target = text.slice('mailto:'.length).split('?', 1)[0] ?? '';
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

function reveal(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  const key = bytes[0] ?? 0;
  return Buffer.from(bytes.subarray(1).map((byte) => byte ^ key)).toString('utf8');
}
