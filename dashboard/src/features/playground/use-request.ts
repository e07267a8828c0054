import { useEffect, useMemo, useRef, useState } from 'react';
import { DEFAULT_FORMATS, type Draft, type DraftValue, draftOf, requestOf } from './request/request-draft.ts';
import { shareable } from './request/shareable.ts';
import { type PlaygroundSearch, playgroundRoute } from './routes.ts';

/** The address follows the form after a pause in typing, so that each letter is no entry of the history. */
const PAUSE_MS = 400;

const initialDraft = ({ request, url }: PlaygroundSearch): Draft =>
  draftOf({ formats: DEFAULT_FORMATS, ...request, ...(url !== undefined && { url }) });

/** The form's state: in memory while it is typed, in the address for a shared link, and read from there at the start. */
export function useRequest() {
  const search = playgroundRoute.useSearch();
  const navigate = playgroundRoute.useNavigate();
  const [draft, setDraft] = useState<Draft>(() => initialDraft(search));
  const drafted = useMemo(() => requestOf(draft), [draft]);
  const shared = useMemo(() => shareable(drafted.body), [drafted]);
  const text = JSON.stringify(shared.request);
  const written = useRef(text);
  const addressText = JSON.stringify([search.request, search.url]);
  const lastAddress = useRef(addressText);

  useEffect(() => {
    if (written.current === text) return;
    const timer = setTimeout(() => {
      written.current = text;
      const request = JSON.parse(text) as Record<string, unknown>;
      lastAddress.current = JSON.stringify([request, undefined]);
      void navigate({
        search: ({ url: _, ...before }) => ({ ...before, request }),
        replace: true,
        resetScroll: false,
      });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, navigate]);

  // Another address than the one the form has written: a link, or the way back.
  useEffect(() => {
    if (lastAddress.current === addressText) return;
    lastAddress.current = addressText;
    const next = initialDraft(readAddress(addressText));
    written.current = JSON.stringify(shareable(requestOf(next).body).request);
    setDraft(next);
  }, [addressText]);

  return {
    draft,
    body: drafted.body,
    problems: drafted.problems,
    leftOut: shared.leftOut,
    set: (path: string, value: DraftValue) => setDraft((before) => ({ ...before, [path]: value })),
    replace: setDraft,
  };
}

function readAddress(text: string): PlaygroundSearch {
  const [request, url] = JSON.parse(text) as [PlaygroundSearch['request'] | null, string | null];
  return { ...(request != null && { request }), ...(url != null && { url }) };
}
