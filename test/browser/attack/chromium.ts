/** Debian's Chromium as it comes, every connection of which goes through the resolver. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Remote, startBrowser, type Values } from './remote.ts';
import type { Browser, Tab } from './tab.ts';

const CHROMIUM = '/usr/bin/chromium';
const CLICK_TRIES = 250;

/** Why there is no Chromium; false when there is one. */
export const reasonAgainstChromium: string | false =
  !existsSync(CHROMIUM) && `apt-get install chromium (missing: ${CHROMIUM})`;

interface Opened {
  readonly contextId: unknown;
  readonly pageId: unknown;
  readonly sessionId: unknown;
}

export async function startChromium(socksPort: number): Promise<Browser> {
  const { remote, stop } = await startBrowser(
    CHROMIUM,
    (profile) => [
      '--headless',
      // As root in a container or a machine of the test's own.
      '--no-sandbox',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-gpu',
      `--user-data-dir=${profile}`,
      '--remote-debugging-port=0',
      `--proxy-server=socks5://127.0.0.1:${socksPort}`,
      // Loopback too, which a browser would otherwise connect to directly.
      '--proxy-bypass-list=<-loopback>',
      'about:blank',
    ],
    /DevTools listening on (ws:\S+)/,
  );
  const { product } = await remote.call('Browser.getVersion');
  return {
    engine: 'chromium',
    version: String(product).replace(/^(?:Headless)?Chrome\//, 'Chromium '),
    openTab: async () => new ChromiumTab(remote),
    close: stop,
  };
}

class ChromiumTab implements Tab {
  readonly #remote: Remote;
  #opened: Promise<Opened> | undefined;

  constructor(remote: Remote) {
    this.#remote = remote;
  }

  async goto(url: string): Promise<void> {
    this.#opened ??= this.#open();
    const { sessionId } = await this.#opened;
    // A page that navigates away immediately may interrupt this, which is not a failure.
    await this.#remote.call('Page.navigate', { url }, { sessionId }).catch(() => undefined);
  }

  async click(selector: string): Promise<boolean> {
    const { sessionId } = await this.#current();
    const expression = `(() => {
      const box = document.readyState !== 'loading' && document.querySelector(${JSON.stringify(selector)})?.getBoundingClientRect();
      return box ? [box.x + box.width / 2, box.y + box.height / 2].join() : '';
    })()`;
    for (let tries = 0; tries < CLICK_TRIES; tries++) {
      const [x, y] = (await this.evaluate(expression)).split(',').map(Number);
      if (x !== undefined && y !== undefined) {
        const press = { x, y, button: 'left', clickCount: 1 };
        for (const type of ['mousePressed', 'mouseReleased'])
          await this.#remote.call('Input.dispatchMouseEvent', { ...press, type }, { sessionId });
        return true;
      }
      await sleep(20);
    }
    return false;
  }

  async evaluate(expression: string): Promise<string> {
    const { sessionId } = await this.#current();
    const params = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.#remote.call('Runtime.evaluate', params, { sessionId });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    // As the protocol documents it.
    return String((result as { readonly value?: unknown }).value ?? '');
  }

  async tidy(): Promise<void> {
    const { contextId, pageId } = await this.#current();
    const { targetInfos } = await this.#remote.call('Target.getTargets');
    // As the protocol documents it.
    for (const target of targetInfos as readonly Values[])
      if (
        target['browserContextId'] === contextId &&
        target['type'] === 'page' &&
        target['targetId'] !== pageId
      )
        await this.#remote.call('Target.closeTarget', { targetId: target['targetId'] });
  }

  /** Like a private window: with nothing that another tab keeps. */
  async #open(): Promise<Opened> {
    const { browserContextId: contextId } = await this.#remote.call('Target.createBrowserContext');
    const { targetId: pageId } = await this.#remote.call('Target.createTarget', {
      url: 'about:blank',
      browserContextId: contextId,
    });
    const { sessionId } = await this.#remote.call('Target.attachToTarget', {
      targetId: pageId,
      flatten: true,
    });
    return { contextId, pageId, sessionId };
  }

  async #current(): Promise<Opened> {
    if (this.#opened === undefined) throw new Error('no page was opened');
    return await this.#opened;
  }
}
