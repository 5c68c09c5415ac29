/** A hub inside this process with the machines of real services, and its page. */
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import type { Host } from '#src/host/host.js';
import { livelyHost } from '../../helpers/fakes/lively-host.ts';
import { type ConfigPart, serveHere } from '../../helpers/service/service.ts';
import { isUp, type StartedHub, startHub } from '../../hub/setup.ts';

/** A machine of another name. */
export function namedHost(hostname: string, host: Host = livelyHost()): Host {
  return { ...host, readSystem: async () => ({ ...(await host.readSystem()), hostname }) };
}

const QUICK: ConfigPart = { stats: { stream_interval_seconds: 1 } };

export async function startAgent(t: Test, hostname: string, port = 0, config: ConfigPart = {}) {
  return await serveHere(t, namedHost(hostname), {
    ...QUICK,
    host: { name: hostname },
    ...config,
    server: { port },
  });
}

/** Two machines that are up, and one that nothing answers for. */
export async function startFleet(t: Test, config: ConfigPart = {}): Promise<StartedHub> {
  const [desk, nas] = [await startAgent(t, 'desk.lan'), await startAgent(t, 'nas.lan')];
  const hub = await startHub(
    t,
    {
      desk: { url: desk.baseUrl, labels: { site: 'berlin', role: 'desk' } },
      nas: { url: nas.baseUrl, labels: { site: 'berlin' } },
      gone: { url: 'http://127.0.0.1:1', labels: { site: 'paris' } },
    },
    config,
  );
  if (config.auth === undefined) {
    await hub.host('desk', isUp);
    await hub.host('nas', isUp);
    await hub.host('gone', ({ reason }) => reason === 'connection refused');
  }
  return hub;
}

/** The names of the machines, in their order. */
export const namesOn = (page: Page) => page.locator('[data-item] a').allInnerTexts();
