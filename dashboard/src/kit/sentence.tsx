import { formatDateTime, formatExact } from '../format/format.ts';

/** `code` and times, which the server writes as 2026-11-18T09:19:50.598Z. */
const PARTS = /(`[^`]+`|\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)/;

/** A sentence of the server: names of options as code, times in the viewer's zone with the exact one on hover. */
export const Sentence = ({ text }: { readonly text: string }) =>
  text.split(PARTS).map((part, index) => {
    if (index % 2 === 0) return part;
    // biome-ignore-start lint/suspicious/noArrayIndexKey: parts have no identity beside their place
    if (part.startsWith('`')) return <code key={index}>{part.slice(1, -1)}</code>;
    return (
      <time key={index} dateTime={part} title={formatExact(part)}>
        {formatDateTime(part)}
      </time>
    );
    // biome-ignore-end lint/suspicious/noArrayIndexKey: parts have no identity beside their place
  });
