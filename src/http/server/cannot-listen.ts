import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** Why a port cannot be listened on. `other`: where another one is named. */
export function cannotListen(
  error: unknown,
  { host, port, other }: { readonly host: string; readonly port: number; readonly other: string },
): ScrapifieError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return new ScrapifieError(
      'PORT_IN_USE',
      `Port ${port} on ${host} is taken by another program. Stop that one, or take another port: ${other}.`,
      { cause: error },
    );
  }
  const why =
    code === 'EACCES'
      ? 'this user may not use that port; take one above 1023'
      : code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'
        ? 'this machine does not have that address'
        : message;
  return new ScrapifieError('LISTEN_FAILED', `Cannot listen on ${host}, port ${port}: ${why}.`, {
    cause: error,
  });
}
