/** Web pages attack the service through a real browser: with the guard taken out they succeed, with it they do not. */
import '../helpers/dead-buses.ts';
import { existsSync } from 'node:fs';
import t from 'tap';
import { Attacker } from './attack/attacker.ts';
import { reasonAgainstChromium, startChromium } from './attack/chromium.ts';
import { Lane, type Outcome } from './attack/lane.ts';
import { LISTED } from './attack/names.ts';
import { Resolver } from './attack/resolver.ts';
import { ROWS } from './attack/rows.ts';
import { Victim } from './attack/victim.ts';

const skip = reasonAgainstChromium || (!existsSync('/usr/bin/dbus-daemon') && 'apt-get install dbus');
void LISTED;

t.setTimeout(600_000);

t.test('attacks', { skip, timeout: 600_000 }, async (t) => {
  const resolver = await Resolver.start();
  t.teardown(() => resolver.stop());
  const victims = await Promise.all(
    [true, false].map((isGuarded) => Victim.start(t, { isGuarded, auth: 'off', listedOrigin: () => 'http://good.test:1' })),
  );
  const ground = await Attacker.start(resolver, victims.map(({ service }) => service.port));
  t.teardown(() => ground.attacker.stop());
  const browser = await startChromium(resolver.port);
  t.teardown(() => browser.close());
  t.comment(browser.version);
  const only = process.env['ROWS']?.split(',');
  await Promise.all(
    victims.map(async (victim) => {
      const lane = new Lane({ ...ground, resolver }, victim, await browser.openTab());
      for (const row of ROWS) {
        if (only !== undefined && !only.includes(row.id)) continue;
        for (const target of row.targets) {
          const o: Outcome = await lane.attack(row, target);
          const line = `${victim.isGuarded ? 'on ' : 'OFF'} ${row.id} ${target}: ${o.succeeded ? 'SUCCEEDED' : 'failed'} ${Math.round(o.tookMs)} ms; ${o.exchanges.map((e) => `${e.method} ${e.path} o=${e.headers.get('origin')} s=${e.headers.get('sec-fetch-site')} ct=${e.headers.get('content-type')} -> ${e.status} ${e.answerHeaders.get('x-error-code') ?? ''}`).join('; ')} ${o.succeeded ? '' : JSON.stringify(o.loot).slice(0, 200)}`;
          if (o.succeeded === victim.isGuarded) t.fail(line);
          else console.error(line);
        }
      }
    }),
  );
});
