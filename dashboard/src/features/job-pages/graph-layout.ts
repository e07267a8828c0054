/** Pages of each side that the picture shows; the tables have more. */
export const MOST_NODES = 14;
export const GRAPH_WIDTH = 960;
const NODE_WIDTH = 270;
const NODE_HEIGHT = 32;
const GAP = 10;
const FOCUS_WIDTH = 240;
const FOCUS_HEIGHT = 52;

export interface GraphBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface GraphLayout {
  readonly height: number;
  readonly focus: GraphBox;
  readonly left: readonly GraphBox[];
  readonly right: readonly GraphBox[];
}

const column = (count: number, x: number, height: number): GraphBox[] => {
  const used = count * NODE_HEIGHT + Math.max(0, count - 1) * GAP;
  const top = (height - used) / 2;
  return Array.from({ length: count }, (_, index) => ({
    x,
    y: top + index * (NODE_HEIGHT + GAP),
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
  }));
};

/** One page in the middle, pages that lead to it on the left, pages that it leads to on the right. */
export function layoutGraph(incoming: number, outgoing: number): GraphLayout {
  const left = Math.min(incoming, MOST_NODES);
  const right = Math.min(outgoing, MOST_NODES);
  const most = Math.max(left, right, 2);
  const height = most * NODE_HEIGHT + (most - 1) * GAP + 24;
  return {
    height,
    focus: {
      x: (GRAPH_WIDTH - FOCUS_WIDTH) / 2,
      y: (height - FOCUS_HEIGHT) / 2,
      width: FOCUS_WIDTH,
      height: FOCUS_HEIGHT,
    },
    left: column(left, 4, height),
    right: column(right, GRAPH_WIDTH - NODE_WIDTH - 4, height),
  };
}

/** A curve from the right side of one box to the left side of another. */
export function edgePath(from: GraphBox, to: GraphBox): string {
  const [x1, y1] = [from.x + from.width, from.y + from.height / 2];
  const [x2, y2] = [to.x, to.y + to.height / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1},${y1}C${middle},${y1} ${middle},${y2} ${x2},${y2}`;
}

/** The end of a URL says more than its beginning, so the middle is left out. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = Math.ceil((most - 1) * 0.35);
  return `${text.slice(0, start)}…${text.slice(text.length - (most - 1 - start))}`;
}
