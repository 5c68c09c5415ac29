import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const WEBP_QUALITY = 82;

/** A picture of the whole page as WebP, which Playwright cannot write: a third of the bytes of a PNG. */
export async function takePicture(page: Page, file: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: WEBP_QUALITY });
  writeFileSync(file, Buffer.from(data, 'base64'));
}
