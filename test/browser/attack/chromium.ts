/** Debian's Chromium, every connection of which goes through the resolver. */
import { existsSync } from 'node:fs';
import { chromium, type Page } from 'playwright-core';
import type { Browser } from './tab.ts';

const CHROMIUM = '/usr/bin/chromium';

/** Why there is no Chromium; false when there is one. */
export const reasonAgainstChromium: string | false =
  !existsSync(CHROMIUM) && `apt-get install chromium (missing: ${CHROMIUM})`;

export const chromiumArguments = (socksPort: number): readonly string[] => [
  // As root in a container or a machine of the test's own.
  '--no-sandbox',
  `--proxy-server=socks5://127.0.0.1:${socksPort}`,
  // Loopback too, which a browser would else reach by itself.
  '--proxy-bypass-list=<-loopback>',
];

export async function startChromium(socksPort: number): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [...chromiumArguments(socksPort)],
  });
  return {
    engine: 'chromium',
    version: `Chromium ${browser.version()}`,
    async openTab() {
      const context = await browser.newContext();
      let page: Page | undefined;
      return {
        async goto(url) {
          page = await context.newPage();
          // Not longer: a page may leave itself before it has come to its end.
          await page.goto(url, { waitUntil: 'commit' });
        },
        click: async (selector) => page?.click(selector, { timeout: 5000 }),
        async tidy() {
          for (const open of context.pages()) await open.close();
        },
      };
    },
    close: () => browser.close(),
  };
}
