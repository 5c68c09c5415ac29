/** Firefox over WebDriver BiDi, every connection of which goes through the resolver. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Remote, startBrowser, type Values } from './remote.ts';
import type { Browser, Tab } from './tab.ts';

const FIREFOX = '/usr/bin/firefox-esr';
const CLICK_TRIES = 250;

/** Why there is no Firefox; false when there is one. */
export const reasonAgainstFirefox: string | false =
  !existsSync(FIREFOX) && `apt-get install firefox-esr (missing: ${FIREFOX})`;

const preferences = (socksPort: number) => ({
  'network.proxy.type': 1,
  'network.proxy.socks': '127.0.0.1',
  'network.proxy.socks_port': socksPort,
  'network.proxy.socks_version': 5,
  'network.proxy.socks_remote_dns': true,
  // Loopback too, which a browser would otherwise connect to directly.
  'network.proxy.allow_hijacking_localhost': true,
  'network.proxy.no_proxies_on': '',
  // It looks whether there is a way out, and asks its maker for this and that.
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  // After one refused WebSocket it waits with the next one to the same server, for up to a minute.
  'network.websocket.delay-failed-reconnects': false,
  'app.update.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
});

export async function startFirefox(socksPort: number): Promise<Browser> {
  const { remote, stop } = await startBrowser(
    FIREFOX,
    (profile) => {
      const lines = Object.entries(preferences(socksPort)).map(
        ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
      );
      writeFileSync(path.join(profile, 'user.js'), lines.join(''));
      return ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0', 'about:blank'];
    },
    /WebDriver BiDi listening on (ws:\S+)/,
    '/session',
  );
  const { capabilities } = await remote.call('session.new', { capabilities: {} });
  // As the protocol documents it.
  const { browserVersion } = capabilities as { readonly browserVersion: string };
  return {
    engine: 'firefox',
    version: `Firefox ${browserVersion}`,
    openTab: async () => new FirefoxTab(remote),
    close: stop,
  };
}

class FirefoxTab implements Tab {
  readonly #remote: Remote;
  #opened: Promise<Values> | undefined;

  constructor(remote: Remote) {
    this.#remote = remote;
  }

  async goto(url: string): Promise<void> {
    const { context } = await this.#current();
    // A page that navigates away immediately may interrupt this, which is not a failure.
    await this.#remote
      .call('browsingContext.navigate', { context, url, wait: 'none' })
      .catch(() => undefined);
  }

  async click(selector: string): Promise<boolean> {
    const { context } = await this.#current();
    const expression = `(() => {
      const box = document.readyState !== 'loading' && document.querySelector(${JSON.stringify(selector)})?.getBoundingClientRect();
      return box ? [box.x + box.width / 2, box.y + box.height / 2].map(Math.round).join() : '';
    })()`;
    for (let tries = 0; tries < CLICK_TRIES; tries++) {
      const [x, y] = (await this.evaluate(expression)).split(',').map(Number);
      if (x !== undefined && y !== undefined) {
        const actions = [
          { type: 'pointerMove', x, y },
          { type: 'pointerDown', button: 0 },
          { type: 'pointerUp', button: 0 },
        ];
        const source = { type: 'pointer', id: 'mouse', actions };
        await this.#remote.call('input.performActions', { context, actions: [source] });
        return true;
      }
      await sleep(20);
    }
    return false;
  }

  async evaluate(expression: string): Promise<string> {
    const { context } = await this.#current();
    const answer = await this.#remote.call('script.evaluate', {
      expression,
      target: { context },
      awaitPromise: true,
    });
    if (answer['type'] !== 'success') throw new Error(JSON.stringify(answer['exceptionDetails']));
    // As the protocol documents it.
    return String((answer['result'] as { readonly value?: unknown }).value ?? '');
  }

  async tidy(): Promise<void> {
    const { context, userContext } = await this.#current();
    const { contexts } = await this.#remote.call('browsingContext.getTree', { maxDepth: 0 });
    // As the protocol documents it.
    for (const other of contexts as readonly Values[])
      if (other['userContext'] === userContext && other['context'] !== context)
        await this.#remote.call('browsingContext.close', { context: other['context'] });
  }

  /** A window, so that it counts as visible, with nothing that another one keeps. */
  #current(): Promise<Values> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  async #open(): Promise<Values> {
    const { userContext } = await this.#remote.call('browser.createUserContext');
    const { context } = await this.#remote.call('browsingContext.create', { type: 'window', userContext });
    return { userContext, context };
  }
}
