/** Debian's Chromium with the page of a service in it: what it complains of is kept, and it asks nobody else. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const PROGRAM = '/usr/bin/chromium';

/** Why browser tests can't run here; false where they can. */
export const skipBrowser = !existsSync(PROGRAM) && `apt-get install chromium (missing: ${PROGRAM})`;

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: PROGRAM,
    // Root has no sandbox; precise memory figures for the long run.
    args: [
      '--no-sandbox',
      '--enable-precise-memory-info',
      '--js-flags=--expose-gc',
      '--disable-background-networking',
    ],
  });
}

export interface OpenPage {
  readonly page: Page;
  /** Errors on the console, what was refused by the policy, exceptions. */
  readonly complaints: string[];
  /** Everything that was asked for, as URLs. */
  readonly requested: string[];
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const requested: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => requested.push(request.url()));
  return { page, complaints, requested };
}
