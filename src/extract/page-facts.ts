/** Small things about a page that tell what it is: a login, an empty shell that needs scripts, a challenge. */
export interface PageFacts {
  hasPasswordField: boolean;
  formCount: number;
  iframeCount: number;
  scriptCount: number;
  /** Characters of scripts written into the page. */
  scriptChars: number;
  /** The first `src` values of scripts, as written. */
  scriptSources: string[];
  /** What the page tells browsers without scripts. */
  noscriptText: string;
  /** Where a meta refresh leads, made absolute. */
  refresh: string | null;
}

export function noFacts(): PageFacts {
  return {
    hasPasswordField: false,
    formCount: 0,
    iframeCount: 0,
    scriptCount: 0,
    scriptChars: 0,
    scriptSources: [],
    noscriptText: '',
    refresh: null,
  };
}
