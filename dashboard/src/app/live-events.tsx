import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useMemo, useRef, useState } from 'react';
import { STREAM_EVENTS } from '../api/choices.ts';
import { sessionQuery } from '../api/session.ts';

export interface LiveEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}
type Listener = (events: readonly LiveEvent[]) => void;

interface Live {
  readonly isConnected: boolean;
  subscribe(listener: Listener): () => void;
}
const LiveContext = createContext<Live>({ isConnected: false, subscribe: () => () => {} });

/** `progress` is of the stream itself: no event that happened. */
const TYPES: readonly string[] = [...STREAM_EVENTS.map(({ value }) => value), 'progress'];

/** Events are handed on together this often, so that 1,000 a second cost as many renders as 2 a second. */
const BATCH_MS = 500;
/** How often lists are asked for again while events of their kind come in. */
const REFRESH_MS = 2_000;
const REOPEN_MS = 3_000;

/** Which queries show something else after an event of this family. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  job: ['jobs', 'usage'],
  progress: ['jobs'],
  export: ['exports'],
  monitor: ['monitors'],
  page: [],
  schedule: ['schedules'],
  account: ['account'],
};

/** One stream of the account's events for all pages. */
export function LiveEvents({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const [isConnected, setIsConnected] = useState(false);
  const listeners = useRef(new Set<Listener>());

  useEffect(() => {
    let source: EventSource;
    let again: ReturnType<typeof setTimeout> | undefined;
    let wasLost = false;
    let waiting: LiveEvent[] = [];
    const stale = new Set<string>();
    const deliver = () => {
      if (waiting.length === 0) return;
      const events = waiting;
      waiting = [];
      for (const { type } of events) for (const key of KEYS[type.split('.')[0] ?? ''] ?? []) stale.add(key);
      for (const listener of listeners.current) listener(events);
    };
    const refresh = () => {
      for (const key of stale) void client.invalidateQueries({ queryKey: [key] });
      stale.clear();
    };
    const onEvent = (event: MessageEvent<string>) => {
      waiting.push({ id: event.lastEventId, type: event.type, data: JSON.parse(event.data) });
    };
    const open = () => {
      source = new EventSource('/v1/events');
      for (const type of TYPES) source.addEventListener(type, onEvent);
      source.onopen = () => {
        setIsConnected(true);
        // What happened meanwhile is in no event, and what failed meanwhile may work now.
        if (wasLost) void client.invalidateQueries();
        wasLost = false;
      };
      source.onerror = () => {
        setIsConnected(false);
        wasLost = true;
        // The browser connects again by itself after a broken connection, but not after an answer that is no stream:
        // a proxy without its server, or a session that has ended.
        if (source.readyState !== EventSource.CLOSED) return;
        void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
        again = setTimeout(open, REOPEN_MS);
      };
    };
    open();
    const timers = [setInterval(deliver, BATCH_MS), setInterval(refresh, REFRESH_MS)];
    return () => {
      clearTimeout(again);
      source.close();
      for (const timer of timers) clearInterval(timer);
    };
  }, [client]);

  const live = useMemo<Live>(
    () => ({
      isConnected,
      subscribe(listener) {
        listeners.current.add(listener);
        return () => listeners.current.delete(listener);
      },
    }),
    [isConnected],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

export const useIsLive = (): boolean => use(LiveContext).isConnected;

/** Calls `listener` with the events of each half second. */
export function useLiveEvents(listener: Listener): void {
  const { subscribe } = use(LiveContext);
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => subscribe((events) => latest.current(events)), [subscribe]);
}
