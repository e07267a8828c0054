/**
 * Solves captchas through the people or programs of an external service. Each solution
 * costs money and tells the service which page is visited: the caller must have the operator's consent for the site.
 */
export interface CaptchaSolver {
  readonly name: string;
  /**
   * Waits until there is a solution, the solver gives up, or the signal ends it. Throws, as ScrapifieError:
   * CAPTCHA_UNSOLVED with an UnsolvedDetails when there will be none; the signal's reason, or CANCELLED; and
   * SHUTTING_DOWN after `close`. No message or detail ever has the key of the service in it.
   */
  solve(captcha: Captcha, signal: AbortSignal): Promise<Solution>;
  /** Says that the site did not accept the solution. A service that takes no such reports gets none; it never fails. */
  reportBad(solution: Solution): Promise<void>;
  /** The balance of the account, in US dollars. Throws CAPTCHA_UNSOLVED when the service does not say. */
  balance(signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
}

interface OnPage {
  /** The public key of the widget, as the page has it. */
  readonly siteKey: string;
  /** Only its origin and path are sent to a service: the rest may hold secrets and is not needed. */
  readonly pageUrl: string;
}

export type Captcha =
  | (OnPage & {
      readonly kind: 'recaptcha-v2';
      readonly isInvisible: boolean;
      readonly isEnterprise: boolean;
      /** `data-s` of the widget: a value that is good for one solution. */
      readonly dataS: string | null;
    })
  | (OnPage & {
      readonly kind: 'recaptcha-v3';
      readonly isEnterprise: boolean;
      readonly action: string | null;
      /** 0.3, 0.7 or 0.9. */
      readonly minScore: number;
    })
  | (OnPage & {
      readonly kind: 'hcaptcha';
      readonly isInvisible: boolean;
      readonly rqData: string | null;
    })
  | (OnPage & {
      readonly kind: 'turnstile';
      readonly action: string | null;
      readonly cData: string | null;
    })
  | {
      /** Letters or digits to be read off a picture: PNG, JPEG or GIF. */
      readonly kind: 'image-text';
      readonly image: Uint8Array;
      /** What the page says about the picture. */
      readonly hint: string | null;
    };

export type CaptchaKind = Captcha['kind'];

export interface Solution {
  readonly kind: CaptchaKind;
  /** What the widget would have given to the page; of a picture, its text. */
  readonly token: string;
  /** The user agent under which the captcha was solved, where the service reports it. */
  readonly userAgent: string | null;
  readonly solver: string;
  /** The service's own name for the task. */
  readonly taskId: string;
  readonly ms: number;
  /** Null when the service does not say. */
  readonly costUsd: number | null;
}

/** The `details` of CAPTCHA_UNSOLVED. */
export interface UnsolvedDetails {
  readonly solver: string;
  /** The service's code such as `ERROR_ZERO_BALANCE`, or a few words of ours. */
  readonly reason: string;
  /** Nothing that is asked of this account will be done until its owner acts. */
  readonly isAccountFault: boolean;
}

export interface SolverFigures {
  readonly solver: string;
  readonly solved: number;
  readonly failed: number;
  /** Solutions that sites did not accept. */
  readonly refused: number;
  /** Time that all solutions took together. */
  readonly ms: number;
  /** Price of all solutions whose cost is known. */
  readonly costUsd: number;
}
