/** The browser interface of the attack suite. */

export interface Tab {
  readonly goto: (url: string) => Promise<void>;
  /** A click as a visitor's: at the middle of the element, by the browser itself. False when it has not come. */
  readonly click: (selector: string) => Promise<boolean>;
  /** What a promise in the page yields: text. */
  readonly evaluate: (expression: string) => Promise<string>;
  /** Closes what the page opened. */
  readonly tidy: () => Promise<void>;
}

export interface Browser {
  readonly engine: 'chromium' | 'firefox';
  readonly version: string;
  readonly openTab: () => Promise<Tab>;
  readonly close: () => Promise<void>;
}
