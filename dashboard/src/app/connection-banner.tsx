import { useEffect, useState } from 'react';
import { Notice } from '../kit/states.tsx';
import { useIsLive } from './live-events.tsx';

/** A stream that is being opened, or opened again after a restart of the server, is no outage yet. */
const PATIENCE_MS = 4_000;

/** A banner while the page may show old data: the computer is offline, or the server does not answer. */
export function ConnectionBanner() {
  const isLive = useIsLive();
  const [isOnline, setIsOnline] = useState(navigator.onLine);
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    const update = () => setIsOnline(navigator.onLine);
    addEventListener('online', update);
    addEventListener('offline', update);
    return () => {
      removeEventListener('online', update);
      removeEventListener('offline', update);
    };
  }, []);
  useEffect(() => {
    setIsLate(false);
    if (isLive) return;
    const timer = setTimeout(() => setIsLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [isLive]);
  if (!isOnline) return <Notice tone="warn">This computer is offline. What you see may be old.</Notice>;
  if (isLate) {
    return (
      <Notice tone="warn">
        No live connection to the server. What you see may be old; the page connects again by itself.
      </Notice>
    );
  }
  return null;
}
