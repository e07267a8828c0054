import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { type Scale, type ScaledPlace, scaleOf, scrolled, scrollTopOf } from './scroll-scale.ts';

/** Rows that are drawn above and below those in sight. */
const OVERSCAN = 8;
/** After so long without a step the scroll bar is put where the list stands. */
const IDLE_MS = 160;

interface RowWindow {
  readonly first: number;
  /** Index behind the last row of the window. */
  readonly end: number;
  /** What is taken off the place of each row, because the element is lower than the list. */
  readonly offset: number;
  /** Height of the element that holds the rows. */
  readonly height: number;
  /** Number of rows that fit into the list. */
  readonly fits: number;
  scrollToRow(index: number): void;
}

/** Which rows of `count`, each `rowHeight` high, are in sight of `scroller`, whose fixed head is `headHeight` high. */
export function useRowWindow(
  scroller: RefObject<HTMLElement | null>,
  { count, rowHeight, headHeight }: { count: number; rowHeight: number; headHeight: number },
): RowWindow {
  const [view, setView] = useState(0);
  const [place, setPlace] = useState<ScaledPlace>({ top: 0, scrollTop: 0 });
  const scale = scaleOf(count * rowHeight, view);
  const latest = useRef<{ scale: Scale; place: ScaledPlace }>({ scale, place });
  latest.current.scale = scale;

  const moveTo = (next: ScaledPlace) => {
    latest.current.place = next;
    const element = scroller.current;
    if (element !== null && Math.abs(element.scrollTop - next.scrollTop) > 1) {
      // Rows and scroll bar must move in the same frame, or the rows would jump.
      flushSync(() => setPlace(next));
      element.scrollTop = next.scrollTop;
      latest.current.place = { top: next.top, scrollTop: element.scrollTop };
    } else setPlace(next);
  };
  const move = useRef(moveTo);
  move.current = moveTo;

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = () => setView(Math.max(0, element.clientHeight - headHeight));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller, headHeight]);

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    let idle: ReturnType<typeof setTimeout> | undefined;
    const onScroll = () => {
      const { scale: current, place: before } = latest.current;
      if (element.scrollTop === before.scrollTop) return;
      move.current(scrolled(current, before, element.scrollTop));
      clearTimeout(idle);
      idle = setTimeout(() => {
        const { top } = latest.current.place;
        move.current({ top, scrollTop: Math.round(scrollTopOf(latest.current.scale, top)) });
      }, IDLE_MS);
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      clearTimeout(idle);
      element.removeEventListener('scroll', onScroll);
    };
  }, [scroller]);

  const fits = Math.max(1, Math.floor(view / rowHeight));
  const first = Math.max(0, Math.floor(place.top / rowHeight) - OVERSCAN);
  const end = Math.min(count, Math.ceil((place.top + view) / rowHeight) + OVERSCAN);
  return {
    first: Math.min(first, Math.max(0, count - 1)),
    end,
    offset: place.top - place.scrollTop,
    height: scale.drawn,
    fits,
    scrollToRow(index) {
      const { top } = latest.current.place;
      const rowTop = index * rowHeight;
      const next = rowTop < top ? rowTop : rowTop + rowHeight > top + view ? rowTop + rowHeight - view : top;
      if (next !== top) moveTo({ top: next, scrollTop: Math.round(scrollTopOf(scale, next)) });
    },
  };
}
