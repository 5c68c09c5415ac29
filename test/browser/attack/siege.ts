/** The setup of the attack suite: services with and without their guard, the attacker, a browser. */
import { existsSync } from 'node:fs';
import type { Test } from 'tap';
import { Attacker } from './attacker.ts';
import { Attempts } from './attempts.ts';
import { LISTED } from './names.ts';
import { Resolver } from './resolver.ts';
import type { Browser, Tab } from './tab.ts';
import { type Auth, Victim } from './victim.ts';

export const reasonAgainstBus: string | false =
  !existsSync('/usr/bin/dbus-daemon') && 'apt-get install dbus (missing: /usr/bin/dbus-daemon)';

export const AUTHS: readonly Auth[] = ['off', 'listed'];

/** A victim, and its attempts in a tab of its own. */
export interface Front {
  readonly victim: Victim;
  readonly attempts: Attempts;
  readonly tab: Tab;
}

export interface Siege {
  readonly browser: Browser;
  readonly attacker: Attacker;
  readonly fronts: readonly Front[];
}

/** All of it ends with `t`. */
export async function startSiege(
  t: Test,
  startBrowser: (socksPort: number) => Promise<Browser>,
): Promise<Siege> {
  const resolver = await Resolver.start();
  t.teardown(() => resolver.stop());
  const attacker = await Attacker.start(resolver);
  t.teardown(() => attacker.stop());
  const listedOrigin = `http://${LISTED}:${attacker.port}`;
  const starts = AUTHS.flatMap((auth) =>
    [true, false].map((isGuarded) => Victim.start(t, { isGuarded, auth, listedOrigin })),
  );
  const victims = await Promise.all(starts);
  for (const { service } of victims) await attacker.standInFor(service.port);
  const browser = await startBrowser(resolver.port);
  t.teardown(() => browser.close());
  const fronts = await Promise.all(
    victims.map(async (victim) => {
      const tab = await browser.openTab();
      return { victim, tab, attempts: new Attempts({ attacker, resolver }, victim, tab) };
    }),
  );
  return { browser, attacker, fronts };
}
