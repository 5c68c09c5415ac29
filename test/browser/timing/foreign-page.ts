/** A foreign web page in Chromium, and the bytes of its requests. */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';
import { listen } from '../../helpers/clients/listen.ts';

const CHROMIUM = '/usr/bin/chromium';

/**
 * The requests whose bytes are recorded. `window`: a script navigates a window that the visitor opened by a click some time
 * before. `link`: a link that the visitor clicks. `lan`: a fetch to a name of the network, without TLS.
 */
export const RECORDED = ['fetch', 'image', 'frame', 'object', 'window', 'link', 'lan'] as const;
export type Recorded = (typeof RECORDED)[number];
/** The head of a browser's request after its first line, without its Host line; ends with an empty line. */
export type BrowserHead = string;

/** A name that the browser takes for this machine and trusts like TLS; for the service it is another site. */
const SITE = 'attacker.localhost';
/** Leads to this machine too, but browsers do not trust it, and send no Sec-Fetch headers to it. */
const LAN_NAME = 'pc.lan';

/** Each `ways.NAME(url)` requests it; where that returns a promise, it resolves when the page notices the answer. */
const SCRIPT = `
const loaded = (element, set) => new Promise((resolve) => {
  element.onload = element.onerror = resolve;
  Object.assign(element, set);
});
const frame = document.querySelector('iframe');
let opened;
const ways = {
  fetch: (url) => fetch(url, { mode: 'no-cors', cache: 'no-store' }).then(() => undefined, () => undefined),
  image: (url) => loaded(new Image(), { src: url }),
  frame: (url) => loaded(frame, { src: url }),
  object: async (url) => {
    const object = document.createElement('object');
    const whole = loaded(object, { type: 'text/html', data: url });
    document.body.append(object);
    await whole;
  },
  window: (url) => { opened.location = url; },
};
document.querySelector('button').onclick = () => { opened = open('about:blank', 'target', 'width=200,height=200'); };
`;

const bodyOf = (port: number) =>
  `<!doctype html><title>attack</title><body><button>a</button><a href="http://127.0.0.1:${port}/link" target="_blank">b</a>
<iframe></iframe><script>${SCRIPT}</script>`;

interface Site {
  readonly port: number;
  /** By the path of the request. */
  readonly heads: ReadonlyMap<string, BrowserHead>;
}

async function serve(t: Test): Promise<Site> {
  const heads = new Map<string, string>();
  const server = http.createServer((request, response) => {
    const lines = request.rawHeaders.flatMap((name, index, all) =>
      index % 2 === 0 && name.toLowerCase() !== 'host' ? [`${name}: ${all[index + 1]}\r\n`] : [],
    );
    heads.set(request.url ?? '', `${lines.join('')}\r\n`);
    response.writeHead(200, { 'Content-Type': 'text/html', 'Cache-Control': 'no-store' });
    response.end(bodyOf(request.socket.localPort ?? 0));
  });
  return { port: await listen(t, server), heads };
}

/** Browsers count what a page does as the visitor's own for five seconds after a click. */
const ACTIVATION_MS = 6000;

export class ForeignPage {
  /** With frames and windows. */
  readonly plain: Page;
  readonly version: string;
  readonly #site: Site;

  private constructor(plain: Page, site: Site, version: string) {
    this.plain = plain;
    this.version = version;
    this.#site = site;
  }

  /** Starts a browser for it; both end with `t`. */
  static async open(t: Test): Promise<ForeignPage> {
    const site = await serve(t);
    const args = [
      '--no-sandbox',
      '--disable-background-networking',
      `--host-resolver-rules=MAP ${LAN_NAME} 127.0.0.1`,
    ];
    const browser = await chromium.launch({ executablePath: CHROMIUM, args });
    t.teardown(() => browser.close());
    const context = await browser.newContext();
    const plain = await context.newPage();
    await plain.goto(`http://${SITE}:${site.port}/plain`);
    await plain.click('button');
    return new ForeignPage(plain, site, `Chromium ${browser.version()}`);
  }

  /** Returns the head that the browser sends for each kind of request. */
  async recordHeads(): Promise<Readonly<Record<Recorded, BrowserHead>>> {
    const { heads, port } = this.#site;
    const headOf = async (way: Recorded) => {
      for (;;) {
        const head = heads.get(`/${way}`);
        if (head !== undefined) return head;
        await sleep(20);
      }
    };
    const popup = this.plain.waitForEvent('popup');
    await this.plain.click('a');
    await (await popup).close();
    // By a timer of the page: what the test evaluates counts as the visitor's own.
    await this.plain.evaluate(
      `void setTimeout(() => ways.window('http://127.0.0.1:${port}/window'), ${ACTIVATION_MS})`,
    );
    await headOf('window');
    for (const way of ['fetch', 'image', 'frame', 'object'])
      await this.plain.evaluate(`ways.${way}('http://127.0.0.1:${port}/${way}')`);
    await this.plain.evaluate(`ways.fetch('http://${LAN_NAME}:${port}/lan')`);
    const rows = await Promise.all(RECORDED.map(async (way) => [way, await headOf(way)] as const));
    // Object.fromEntries loses the names, which are exactly those of RECORDED.
    return Object.fromEntries(rows) as Record<Recorded, BrowserHead>;
  }
}
