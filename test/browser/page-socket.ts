/** A browser's WebSocket, created and used by a page and observed by the test. */
import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { Talk } from '../helpers/clients/talk.ts';
import { openPage } from './browser.ts';

/** The events of the page's socket, in order. */
type Seen =
  | { readonly kind: 'open'; readonly protocol: string; readonly extensions: string }
  | { readonly kind: 'message'; readonly data: unknown }
  | { readonly kind: 'error' }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string; readonly wasClean: boolean };

/** Run by the page. */
const CONNECT = `([number, url]) => {
  const socket = new WebSocket(url);
  const report = (seen) => void globalThis.reportToTest(number, seen);
  (globalThis.testSockets ??= [])[number] = socket;
  socket.onopen = () => report({ kind: 'open', protocol: socket.protocol, extensions: socket.extensions });
  socket.onmessage = ({ data }) => report({ kind: 'message', data });
  // The only event when the page's policy forbids the connection.
  socket.onerror = () => report({ kind: 'error' });
  socket.onclose = ({ code, reason, wasClean }) => report({ kind: 'close', code, reason, wasClean });
}`;
const SAY = '([number, text]) => globalThis.testSockets[number].send(text)';
const CLOSE = '([number]) => globalThis.testSockets[number].close(1000)';

const call = (script: string, values: readonly unknown[]) => `(${script})(${JSON.stringify(values)})`;

export class PageSocket extends Talk {
  readonly #run: (script: string, ...more: readonly unknown[]) => void;
  readonly #opening: Promise<boolean>;
  #resolveOpening: (isOpen: boolean) => void = () => undefined;
  /** The negotiated protocol and extensions, once it is open. */
  protocol: string | undefined;
  extensions: string | undefined;
  /** Whether the page saw a clean close. */
  wasClean: boolean | undefined;

  constructor(run: (script: string, ...more: readonly unknown[]) => void) {
    super();
    this.#run = run;
    this.#opening = new Promise((resolve) => {
      this.#resolveOpening = resolve;
    });
  }

  /** False where the handshake failed. */
  opened(): Promise<boolean> {
    return this.#opening;
  }

  see(seen: Seen): void {
    if (seen.kind === 'open') {
      this.protocol = seen.protocol;
      this.extensions = seen.extensions;
      this.#resolveOpening(true);
    } else if (seen.kind === 'error') this.#resolveOpening(false);
    else if (seen.kind === 'close') {
      this.wasClean = seen.wasClean;
      this.#resolveOpening(false);
      this.end(seen.code, seen.reason);
    } else if (typeof seen.data === 'string') this.hear(seen.data);
    else throw new Error('a binary frame');
  }

  override sayText(text: string): void {
    this.#run(SAY, text);
  }

  close(): void {
    this.#run(CLOSE);
  }
}

/** A page with any number of sockets. */
export class SocketPage {
  readonly page: Page;
  /** The page's complaints on its console. */
  readonly complaints: readonly string[];
  readonly #sockets: PageSocket[] = [];
  readonly #url: string;

  private constructor(page: Page, complaints: readonly string[], url: string) {
    this.page = page;
    this.complaints = complaints;
    this.#url = url;
  }

  /** Closed with the test. */
  static async open(t: Pick<Test, 'teardown'>, browser: Browser, url: string): Promise<SocketPage> {
    const { page, complaints } = await openPage(t, browser);
    const opened = new SocketPage(page, complaints, url);
    await page.exposeFunction('reportToTest', (number: number, seen: Seen) =>
      opened.#sockets[number]?.see(seen),
    );
    await page.goto(url);
    return opened;
  }

  /** A socket to the service at `url`, the page's own when not given; open, or its handshake has failed. */
  async try(url = this.#url): Promise<PageSocket> {
    const number = this.#sockets.length;
    const socket = new PageSocket((script, ...more) => {
      // Messages that are sent together arrive in order. If the page is gone, the caller that waits gets the error.
      this.page.evaluate(call(script, [number, ...more])).catch(() => undefined);
    });
    this.#sockets.push(socket);
    const address = new URL('/api/ws', url);
    address.protocol = 'ws:';
    await this.page.evaluate(call(CONNECT, [number, address.href]));
    await socket.opened();
    return socket;
  }

  /** As `try`; throws where the handshake fails. */
  async connect(): Promise<PageSocket> {
    const socket = await this.try();
    if (await socket.opened()) return socket;
    throw new Error(`the handshake has failed: ${this.complaints.join('\n')}`);
  }
}
