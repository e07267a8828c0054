/** Browsers draw nothing beyond some ten million pixels; a list that is higher is scrolled at a reduced scale. */
const MOST_PIXELS = 8_000_000;
/** So near to the ends of the list the scale is 1. */
const EDGE_PIXELS = 20_000;
/** How far small steps may lead away from the scale before the position of the scroll bar is corrected. */
const DRIFT_PIXELS = 10_000;

export interface ScaledPlace {
  /** Pixels of the list above the visible part, as if nothing were scaled. */
  readonly top: number;
  /** `scrollTop` of the element. */
  readonly scrollTop: number;
}

export interface Scale {
  /** Height of the list as it would be. */
  readonly full: number;
  /** Height of the element that is scrolled. */
  readonly drawn: number;
  readonly view: number;
}

export const scaleOf = (full: number, view: number): Scale => ({
  full,
  drawn: Math.min(full, MOST_PIXELS),
  view,
});

const clamp = (value: number, most: number): number => Math.max(0, Math.min(value, Math.max(0, most)));

/** `scrollTop` for a place of the list: exact near both ends, proportional between them. */
export function scrollTopOf({ full, drawn, view }: Scale, top: number): number {
  if (full === drawn) return clamp(top, drawn - view);
  const most = full - view;
  if (top <= EDGE_PIXELS) return Math.max(0, top);
  if (top >= most - EDGE_PIXELS) return drawn - view - (most - Math.min(top, most));
  const share = (top - EDGE_PIXELS) / (most - 2 * EDGE_PIXELS);
  return EDGE_PIXELS + share * (drawn - view - 2 * EDGE_PIXELS);
}

/** The inverse of `scrollTopOf`. */
export function topOf({ full, drawn, view }: Scale, scrollTop: number): number {
  if (full === drawn) return clamp(scrollTop, full - view);
  const most = drawn - view;
  if (scrollTop <= EDGE_PIXELS) return Math.max(0, scrollTop);
  if (scrollTop >= most - EDGE_PIXELS) return full - view - (most - Math.min(scrollTop, most));
  const share = (scrollTop - EDGE_PIXELS) / (most - 2 * EDGE_PIXELS);
  return EDGE_PIXELS + share * (full - view - 2 * EDGE_PIXELS);
}

/**
 * Where the list stands after the element was scrolled from `before` to `scrollTop`. A step of a few screens moves the list
 * by the same distance; a longer one, such as a pull at the scroll bar, moves it to the proportional place.
 * The answer's `scrollTop` differs from the argument where the element's has to be corrected.
 */
export function scrolled(scale: Scale, before: ScaledPlace, scrollTop: number): ScaledPlace {
  const step = scrollTop - before.scrollTop;
  if (scale.full === scale.drawn || Math.abs(step) > 3 * scale.view)
    return { top: topOf(scale, scrollTop), scrollTop };
  const top = clamp(before.top + step, scale.full - scale.view);
  const exact = scrollTopOf(scale, top);
  const isAtEdge = Math.min(top, scale.full - scale.view - top) < EDGE_PIXELS;
  const allowed = isAtEdge ? 1 : DRIFT_PIXELS;
  return { top, scrollTop: Math.abs(exact - scrollTop) > allowed ? exact : scrollTop };
}
