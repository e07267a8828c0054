/** Counts and texts of the markup by which the classifier recognises logins, empty shells that need scripts, and challenges. */
export interface MarkupFacts {
  hasPasswordField: boolean;
  formCount: number;
  iframeCount: number;
  scriptCount: number;
  /** Characters of inline scripts. */
  scriptChars: number;
  /** The first `src` values of scripts, as written. */
  scriptSources: string[];
  /** The text of the first `noscript` that has any. */
  noscriptText: string;
  /** The absolute target of a meta refresh; null without one. */
  refresh: string | null;
  /** After how many seconds it leads there; null without one, and for one that is only there for clients without scripts. */
  refreshSeconds: number | null;
}

export function noMarkupFacts(): MarkupFacts {
  return {
    hasPasswordField: false,
    formCount: 0,
    iframeCount: 0,
    scriptCount: 0,
    scriptChars: 0,
    scriptSources: [],
    noscriptText: '',
    refresh: null,
    refreshSeconds: null,
  };
}
