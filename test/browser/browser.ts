/** Debian's Chromium with the page of a service; records the page's complaints and requests. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';
import { PATIENCE_MS } from '../helpers/limits.ts';

const PROGRAM = '/usr/bin/chromium';

/** Why browser tests cannot run here; false where they can. */
export const skipBrowser = !existsSync(PROGRAM) && `apt-get install chromium (missing: ${PROGRAM})`;

export function launchBrowser(...more: readonly string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: PROGRAM,
    // Root has no sandbox.
    args: ['--no-sandbox', '--disable-background-networking', '--js-flags=--expose-gc', ...more],
  });
}

export interface OpenPage {
  readonly page: Page;
  /** Errors and warnings on the console, exceptions, and what the policy refused. */
  readonly complaints: readonly string[];
  /** All requests, in order. */
  readonly requested: readonly string[];
}

/** A new page, closed with the test. */
export async function openPage(
  t: Pick<Test, 'teardown'>,
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  t.teardown(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  const requested: string[] = [];
  page.on('console', (message) => {
    // Chromium itself writes it for a refused request, and the page requests the history without knowing that it is off.
    if (
      /\/api\/(?:hosts\/\w+\/)?history\b/.test(message.location().url) &&
      /status of 403/.test(message.text())
    )
      return;
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => requested.push(request.url()));
  return { page, complaints, requested };
}

/** The smallest phone. */
export const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

/** One browser for all tests of a file. */
export async function startBrowser(t: Pick<Test, 'teardown'>): Promise<Browser> {
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  return browser;
}

/** Whether the page is live. */
export const liveState = (page: Page) => page.locator('.state.live');

/** A new page at `url`, once it is live. */
export async function openLive(
  t: Pick<Test, 'teardown'>,
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const opened = await openPage(t, browser, options);
  await opened.page.goto(url);
  await liveState(opened.page).waitFor();
  return opened;
}

/** The text of the card called `title`. */
export const card = (page: Page, title: string) => page.getByRole('region', { name: title, exact: true });

/** Waits until `read` returns something that `wanted` accepts or matches, or an equal value; throws with the last one. */
export async function until<T>(
  read: () => Promise<T>,
  wanted: T | RegExp | ((value: T) => boolean),
  limitMs = PATIENCE_MS,
): Promise<T> {
  const isWanted = (value: T) => {
    // No value that is read is a function itself.
    if (typeof wanted === 'function') return (wanted as (value: T) => boolean)(value);
    if (wanted instanceof RegExp) return wanted.test(String(value));
    return JSON.stringify(value) === JSON.stringify(wanted);
  };
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await read();
    if (isWanted(value)) return value;
    if (performance.now() > deadline) throw new Error(`still ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns axe-core's findings against WCAG 2.2 AA as lines; the page needs a context with `bypassCSP`. */
export async function auditPage(page: Page): Promise<readonly string[]> {
  await page.addScriptTag({ content: AXE });
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const options = { runOnly: { type: 'tag', values: tags } };
  // The documented result of axe-core, which was just loaded.
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as {
    readonly violations: readonly Violation[];
  };
  return violations.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map((node) => node.html).join(' ')}`,
  );
}
