/** Pictures of the page of all machines: eight machines that are up, one that is not, and their last minute. */
import path from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { livelyHost } from '../../helpers/fakes/lively-host.ts';
import { startHere } from '../../helpers/service/service.ts';
import { isUp, startHub } from '../../hub/setup.ts';
import { openLive } from '../browser.ts';
import { takePicture } from '../picture.ts';
import { namedHost } from './rig.ts';

interface Machine {
  readonly id: string;
  readonly site: string;
  /** Seconds by which it is ahead, so that no two have the same load. */
  readonly ahead: number;
  readonly hasMedia?: boolean;
}

const MACHINES: readonly Machine[] = [
  { id: 'desk', site: 'berlin', ahead: 0, hasMedia: true },
  { id: 'nas', site: 'berlin', ahead: 37 },
  { id: 'livingroom', site: 'berlin', ahead: 71, hasMedia: true },
  { id: 'workshop', site: 'berlin', ahead: 113 },
  { id: 'build-1', site: 'paris', ahead: 151 },
  { id: 'build-2', site: 'paris', ahead: 197 },
  { id: 'mail', site: 'paris', ahead: 239 },
  { id: 'web', site: 'paris', ahead: 283 },
];
const SHOTS: readonly {
  readonly name: string;
  readonly view: string;
  readonly options: BrowserContextOptions;
}[] = [
  {
    name: 'fleet-light',
    view: 'table',
    options: { viewport: { width: 1280, height: 560 }, colorScheme: 'light' },
  },
  {
    name: 'fleet-phone-dark',
    view: 'table',
    options: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, colorScheme: 'dark' },
  },
];
const MINUTE_MS = 62_000;

export async function takeFleetPictures(folder: string, browser: Browser): Promise<void> {
  const ends: (() => unknown)[] = [];
  const scope = { teardown: (run: () => unknown) => void ends.push(run) };
  const agents: Record<string, { url: string; labels: Record<string, string> }> = {
    old: { url: 'http://127.0.0.1:1', labels: { site: 'paris' } },
  };
  for (const { id, site, ahead, hasMedia = false } of MACHINES) {
    const service = await startHere(namedHost(id, livelyHost({ ahead: () => ahead })), {
      stats: { stream_interval_seconds: 1 },
      host: { name: id },
      features: { enable_media: hasMedia },
    });
    ends.push(() => service.stop());
    agents[id] = { url: service.baseUrl, labels: { site } };
  }
  const hub = await startHub(scope, agents);
  for (const { id } of MACHINES) await hub.host(id, isUp);
  const opened = await Promise.all(
    SHOTS.map(async ({ name, view, options }) => {
      const { page } = await openLive(scope, browser, `http://127.0.0.1:${hub.port}/?view=${view}`, options);
      return { page, name };
    }),
  );
  await opened[0]?.page.waitForTimeout(MINUTE_MS);
  for (const { page, name } of opened) {
    await page.bringToFront();
    await page.waitForTimeout(1500);
    await takePicture(page, path.join(folder, `${name}.webp`));
  }
  for (const end of ends.reverse()) await end();
}
