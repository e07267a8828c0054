/** Text with the places that a search has found, as `[start, end]` in characters. */
export function MarkedText({ text, marks }: { readonly text: string; readonly marks: readonly unknown[] }) {
  const parts: { readonly text: string; readonly isMarked: boolean; readonly at: number }[] = [];
  let at = 0;
  for (const [start, end] of marks as readonly (readonly [number, number])[]) {
    if (start > at) parts.push({ text: text.slice(at, start), isMarked: false, at });
    parts.push({ text: text.slice(start, end), isMarked: true, at: start });
    at = end;
  }
  parts.push({ text: text.slice(at), isMarked: false, at });
  return parts.map((part) => (part.isMarked ? <mark key={part.at}>{part.text}</mark> : part.text));
}
