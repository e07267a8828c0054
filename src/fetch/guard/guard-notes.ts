import type { Socket } from 'node:net';

/** Opens a connection, or throws why not. */
export type ConnectBy = (host: string, port: number) => Promise<Socket>;

/**
 * Why hosts could not be reached, by context: Chromium is only told that they could not, since a page must not learn
 * more. Bounded; the oldest go first.
 */
export interface FailureNotes {
  add(username: string, url: URL, error: Error): void;
  of(username: string, url: URL): Error | null;
  forget(username: string): void;
}

const MOST_NOTES = 1_024;

export function failureNotes(): FailureNotes {
  const notes = new Map<string, Error>();
  return {
    add(username, url, error) {
      const key = `${username} ${keyOf(url)}`;
      notes.delete(key);
      notes.set(key, error);
      const oldest = notes.size > MOST_NOTES ? notes.keys().next().value : undefined;
      if (oldest !== undefined) notes.delete(oldest);
    },
    of: (username, url) => notes.get(`${username} ${keyOf(url)}`) ?? null,
    forget(username) {
      for (const key of notes.keys()) if (key.startsWith(`${username} `)) notes.delete(key);
    },
  };
}

/** A tunnel's target has no scheme, so a port that was left out means the same as the one it stands for. */
export function keyOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
