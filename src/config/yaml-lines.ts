import { type Document, isMap, isNode, isScalar, type LineCounter } from 'yaml';

/** The line of the key that the path leads to, or of the nearest key above it that is in the file. */
export function yamlLineOf(path: readonly PropertyKey[], document: Document, lines: LineCounter): number {
  for (let depth = path.length; depth > 0; depth--) {
    const parent = depth === 1 ? document.contents : document.getIn(path.slice(0, depth - 1), true);
    const name = path[depth - 1];
    const key = isMap(parent)
      ? parent.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === name)?.key
      : document.getIn(path.slice(0, depth), true);
    if (isNode(key) && key.range) return lines.linePos(key.range[0]).line;
  }
  return 1;
}
