/** The browser interface of the attack suite. */

export interface Tab {
  readonly goto: (url: string) => Promise<void>;
  /** Clicks in the middle of the element, as a visitor does, through the browser. False if the element has not appeared. */
  readonly click: (selector: string) => Promise<boolean>;
  /** Returns the text that a promise in the page yields. */
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
