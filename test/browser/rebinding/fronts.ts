/** The services of the rebinding proof, each at one address, with and without guard, and a tab for each. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { ServiceProcess } from '../../helpers/service/service.ts';
import { Attacker, type Loot } from '../attack/attacker.ts';
import { startGuarded } from '../attack/guarded.ts';
import { ATTACKER } from '../attack/names.ts';
import { Resolver } from '../attack/resolver.ts';
import type { Browser, Tab } from '../attack/tab.ts';
import type { WireExchange } from '../attack/wire.ts';
import { ALLOWED_NAME, IPV6_ADDRESS, OWN_HOSTS, SITES, type Site, type StrangersName } from './names.ts';
import { attackPage, PATHS, TRY_ALL_HERE, type Tries, triesOf } from './visit.ts';

const CONFIG = { server: { allowed_hosts: [ALLOWED_NAME] } };
/** Only guards against a page that never reports. */
const LIMIT_MS = 60_000;
const STEP_MS = 10;

export interface Front {
  readonly site: Site;
  readonly isGuarded: boolean;
  readonly service: ServiceProcess;
  readonly tab: Tab;
  readonly log: readonly WireExchange[];
}

export interface Ground {
  readonly browser: Browser;
  readonly attacker: Attacker;
  readonly resolver: Resolver;
  readonly fronts: readonly Front[];
}

/** One name at one front. */
export interface Visit {
  /** undefined: the page has not reported. */
  readonly tries: Tries | undefined;
  /** The answers to the attempts: `403 host_not_allowed`. */
  readonly answers: Readonly<Partial<Record<keyof Tries, string>>>;
}

/** All of it ends with `t`. */
export async function startGround(
  t: Test,
  startBrowser: (socksPort: number) => Promise<Browser>,
): Promise<Ground> {
  const resolver = await Resolver.start();
  t.teardown(() => resolver.stop());
  const attacker = await Attacker.start(resolver);
  t.teardown(() => attacker.stop());
  const browser = await startBrowser(resolver.port);
  t.teardown(() => browser.close());
  const fronts: Front[] = [];
  for (const site of SITES)
    for (const isGuarded of [true, false]) {
      const service = await startGuarded(t, isGuarded, { host: site.address, config: CONFIG });
      await attacker.standInFor(service.port);
      const log = resolver.watch(service.port, site.address);
      fronts.push({ site, isGuarded, service, log, tab: await browser.openTab() });
    }
  return { browser, attacker, resolver, fronts };
}

/** The actions that the service would have taken. */
export async function recorded({ site, service }: Front): Promise<number> {
  const answer = await fetch(`http://${site.address}:${service.port}/api/pw`);
  // As the interface documents it.
  return ((await answer.json()) as { readonly recorded: readonly unknown[] }).recorded.length;
}

async function firstOf(loot: Loot): Promise<string> {
  const begun = performance.now();
  while (loot.length === 0 && performance.now() - begun < LIMIT_MS) await sleep(STEP_MS);
  return loot[0] ?? '';
}

function answerOf(exchanges: readonly WireExchange[], path: string): string | undefined {
  const found = exchanges.find((exchange) => exchange.path === path);
  if (found === undefined) return undefined;
  return [found.status, found.answerHeaders.get('x-error-code')].filter(Boolean).join(' ');
}

let count = 0;

/** Shows the owner the attacker's page at `name`, which then leads to the service of `front`. */
export async function visit(
  { attacker, resolver }: Ground,
  { site, service, tab, log }: Front,
  { name }: StrangersName,
): Promise<Visit> {
  const id = `visit-${count++}`;
  const { port } = service;
  const { hostname } = new URL(`http://${name}:${port}/`);
  resolver.pointLater(hostname.replace(/\.$/, ''), port, site);
  const base = `http://${name}:${port}/attempt/${id}`;
  const mark = log.length;
  const page = attackPage(base, `http://${ATTACKER}:${attacker.port}/loot/${id}`);
  const loot = attacker.lay(id, { page });
  await tab.goto(`${base}/page`);
  const tries = triesOf(await firstOf(loot));
  const exchanges = log.slice(mark);
  const rows = Object.entries(PATHS).map(([key, path]) => [key, answerOf(exchanges, path)] as const);
  return {
    tries,
    // Object.fromEntries loses the names of the rows, which are those of PATHS.
    answers: Object.fromEntries(rows.filter(([, answer]) => answer !== undefined)) as Visit['answers'],
  };
}

/** Returns the results of the owner's attempts at each of OWN_HOSTS, from the dashboard there. */
export async function useOwnHosts(
  t: Test,
  { browser, resolver }: Ground,
): Promise<ReadonlyMap<string, Tries | undefined>> {
  const { port } = await startGuarded(t, true, { host: '::', config: CONFIG });
  const tab = await browser.openTab();
  const used = new Map<string, Tries | undefined>();
  for (const [index, host] of OWN_HOSTS.entries()) {
    const { hostname, origin } = new URL(`http://${host}:${port}/`);
    const name = hostname.replace(/^\[|\]$|\.$/g, '');
    const site = SITES.find(({ address }) => address === name) ?? SITES[index % SITES.length];
    if (name.includes(':')) resolver.point(name, port, { address: name === '::1' ? '::1' : IPV6_ADDRESS });
    else if (site !== undefined) resolver.point(name, port, site);
    await tab.goto(`http://${host}:${port}/`);
    const begun = performance.now();
    const isOpen = () => tab.evaluate('location.origin + " " + document.readyState').catch(() => '');
    while ((await isOpen()) !== `${origin} complete` && performance.now() - begun < LIMIT_MS)
      await sleep(STEP_MS);
    used.set(host, triesOf(await tab.evaluate(TRY_ALL_HERE)));
  }
  return used;
}
