/** What the attack suite wants of a browser. */

export interface Tab {
  /** Opens the page anew. */
  readonly goto: (url: string) => Promise<void>;
  /** A click as a visitor's: at the middle of the element, by the browser itself. */
  readonly click: (selector: string) => Promise<void>;
  /** Closes the page and what it opened. */
  readonly tidy: () => Promise<void>;
}

export interface Browser {
  readonly engine: 'chromium' | 'firefox';
  readonly version: string;
  readonly openTab: () => Promise<Tab>;
  readonly close: () => Promise<void>;
}
