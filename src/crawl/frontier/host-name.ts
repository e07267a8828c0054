import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HostKey } from '../../core/model/ids.ts';
import { redactUrl } from '../../core/observe/redact.ts';
import { canBeHostName } from './canonical.ts';

/** `Example.com:443` names the same host as `example.com`. Throws INVALID_URL for anything else. */
export function hostOf(text: string): HostKey {
  const url = URL.canParse(`https://${text}`) ? new URL(`https://${text}`) : null;
  const isBare =
    url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  const isName =
    url !== null && url.hostname !== '' && canBeHostName(url.hostname) && !/\*|\.\.|^\./.test(url.hostname);
  if (url === null || !isBare || !isName || /[/?#@\\]/.test(text)) {
    throw new ScrapifieError('INVALID_URL', `"${redactUrl(text).slice(0, 100)}" is not a host name.`, {
      details: [{ field: 'host', message: 'not a host name' }],
    });
  }
  return url.host.replace(/\.$/, '') as HostKey;
}
