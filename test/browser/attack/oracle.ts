/** What a page can observe of answers that it may not read. */
import type { Test } from 'tap';
import type { ConfigPart } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { startGuarded } from './guarded.ts';
import { ATTACKER } from './names.ts';
import type { Siege } from './siege.ts';
import { KEY } from './victim.ts';

/**
 * Loads `url` in every way that a page has, and reports the observations. `isPatient`: for a busy machine, in a browser
 * that reports an event for each way (Firefox does not).
 */
const probe = (url: string, isPatient: boolean) => `
(async () => {
  const url = ${JSON.stringify(url)};
  const seen = {};
  const entry = async (name, more = {}) => {
    // Entries come a little later than events, and much later on a busy machine.
    for (let tries = 0; tries < ${isPatient ? 40 : 1}; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (performance.getEntriesByName(url).length > 0) break;
    }
    const { length } = performance.getEntriesByName(url);
    const last = performance.getEntriesByName(url).at(-1);
    performance.clearResourceTimings();
    seen[name] = { ...more, entries: length, status: last?.responseStatus, type: last?.contentType,
      sizes: last && [last.transferSize, last.encodedBodySize, last.decodedBodySize], protocol: last?.nextHopProtocol };
  };
  const element = async (name, tag, set) => {
    const made = Object.assign(document.createElement(tag), set);
    const event = await new Promise((resolve) => {
      for (const type of ['load', 'error', 'loadedmetadata', 'abort']) made.addEventListener(type, () => resolve(type));
      setTimeout(() => resolve('nothing'), ${isPatient ? 30_000 : 1000});
      document.body.append(made);
    });
    let inner = 'none';
    try { inner = String(made.contentWindow?.length); } catch (error) { inner = error.name; }
    await entry(name, { event, inner, width: made.naturalWidth, box: [made.offsetWidth, made.offsetHeight] });
    made.remove();
  };
  await element('image', 'img', { src: url });
  await element('image with cors', 'img', { crossOrigin: 'anonymous', src: url });
  await element('script', 'script', { src: url });
  await element('module', 'script', { type: 'module', src: url });
  await element('style sheet', 'link', { rel: 'stylesheet', href: url });
  await element('prefetch', 'link', { rel: 'prefetch', href: url });
  await element('preload', 'link', { rel: 'preload', as: 'script', href: url });
  await element('preload of an image', 'link', { rel: 'preload', as: 'image', href: url });
  await element('object', 'object', { data: url });
  await element('typed object', 'object', { data: url, type: 'text/html' });
  await element('embed', 'embed', { src: url });
  await element('frame', 'iframe', { src: url });
  await element('video', 'video', { src: url, preload: 'auto' });
  await element('audio', 'audio', { src: url, preload: 'auto' });
  await fetch(url, { mode: 'no-cors' }).then((r) => entry('fetch', { type: r.type, status: r.status }), (e) => entry('fetch', { failed: e.name }));
  await fetch(url).then(() => entry('fetch with cors', { is: 'readable' }), (e) => entry('fetch with cors', { failed: e.name }));
  await fetch(url, { mode: 'no-cors', integrity: 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' }).then(() => entry('integrity', { is: 'whole' }), (e) => entry('integrity', { failed: e.name }));
  return JSON.stringify(seen);
})()`;

/** Pairs of answers that differ for an authorised reader. */
const PAIRS = [
  ['/api/processes/sleep', '/api/processes/no-such-process'],
  ['/api/media/status?player=victim', '/api/media/status?player=nobody'],
  ['/api/media/art', '/api/media/art?player=nobody'],
] as const;
const PATHS = [
  ...PAIRS.flat(),
  ...['/', '/api/usage', '/api/system', '/api/stream', '/api/ws', '/api/pw', '/api/media/status'],
  ...['/api/processes', '/api/openapi.json', '/api/nothing'],
];
/** Where a key is needed, and where every feature is off. */
const OTHERS: readonly ConfigPart[] = [
  { auth: { enabled: true, api_key: KEY } },
  {
    features: {
      enable_media: false,
      enable_processes: false,
      enable_process_control: false,
      enable_dashboard: false,
    },
  },
];

/** Asserts that a page of the attacker sees the same of everything, whether or not it exists, is allowed or is switched on. */
export async function checkSights(t: Test, { attacker, browser, fronts }: Siege): Promise<void> {
  const front = fronts.find(({ victim }) => victim.isGuarded && victim.auth === 'off');
  if (front === undefined) throw new Error('nobody is guarded');
  const { baseUrl } = front.victim.service;
  const status = async (path: string) => (await fetch(baseUrl + path)).status;
  for (const [there, notThere] of PAIRS)
    t.strictSame([await status(there), await status(notThere)], [200, 404], 'they differ for who may read');
  const others = await Promise.all(OTHERS.map((config) => startGuarded(t, true, { config })));
  attacker.lay('look', { page: { body: '<!doctype html><title>look</title><body>' } });
  await front.tab.goto(`http://${ATTACKER}:${attacker.port}/attempt/look/page`);
  await until(async () => (await front.tab.evaluate('String(document.title)')) === 'look');
  let reference: object | undefined;
  for (const base of [baseUrl, ...others.map((other) => other.baseUrl)])
    for (const path of PATHS) {
      // As the expression above makes it.
      const sight = JSON.parse(
        await front.tab.evaluate(probe(base + path, browser.engine === 'chromium')),
      ) as object;
      reference ??= sight;
      t.ok(Object.keys(sight).length >= 15, `${Object.keys(sight).length} ways to load`);
      t.strictSame(sight, reference, base + path);
    }
}
