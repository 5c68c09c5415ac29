/** Parses the traffic between a browser and a service from the bytes that are passed on unchanged. */

export interface WireRequest {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
}

export interface WireExchange extends WireRequest {
  readonly status: number;
  /** Lower-case names. */
  readonly answerHeaders: ReadonlyMap<string, string>;
}

const HEAD_END = '\r\n\r\n';
const MOST_HEAD = 64 * 1024;

function headersOf(lines: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

/**
 * One connection. Browsers send one request at a time on a connection, and every request of an attack is answered in one
 * go, so what comes after an answer's head and before the next head is its body.
 */
export class WireConnection {
  readonly #onExchange: (exchange: WireExchange) => void;
  #request: WireRequest | undefined;
  #fromBrowser = '';
  #fromService = '';

  constructor(onExchange: (exchange: WireExchange) => void) {
    this.#onExchange = onExchange;
  }

  browserSent(bytes: Buffer): void {
    if (this.#request !== undefined) return;
    this.#fromBrowser = (this.#fromBrowser + bytes.toString('latin1')).slice(-MOST_HEAD);
    const end = this.#fromBrowser.indexOf(HEAD_END);
    if (end < 0) return;
    const [first = ''] = this.#fromBrowser.slice(0, end).split('\r\n');
    this.#fromBrowser = '';
    const [, method, path] = /([A-Z]+) ([^ ?]*)\S* HTTP\/1\.1$/.exec(first) ?? [];
    if (method === undefined || path === undefined) return;
    this.#request = { method, path };
    this.#fromService = '';
  }

  serviceSent(bytes: Buffer): void {
    const request = this.#request;
    if (request === undefined) return;
    this.#fromService = (this.#fromService + bytes.toString('latin1')).slice(0, MOST_HEAD);
    const end = this.#fromService.indexOf(HEAD_END);
    if (end < 0) return;
    const [first = '', ...lines] = this.#fromService.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1]);
    this.#request = undefined;
    this.#onExchange({ ...request, status, answerHeaders: headersOf(lines) });
  }
}
