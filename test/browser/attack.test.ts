/** Web pages attack the service through a real browser: with the guard taken out they succeed, with it they do not. */
import '../helpers/dead-buses.ts';
import t from 'tap';
import { reasonAgainstChromium, startChromium } from './attack/chromium.ts';
import { ROWS } from './attack/rows.ts';
import { reasonAgainstBus, startSiege } from './attack/siege.ts';

const skip = reasonAgainstChromium || reasonAgainstBus;
t.setTimeout(600_000);

t.test('attacks', { skip, timeout: 600_000 }, async (t) => {
  const { browser, fronts } = await startSiege(t, startChromium);
  t.comment(browser.version);
  const only = process.env['ROWS']?.split(',');
  await Promise.all(
    fronts.map(async ({ victim, lane }) => {
      let i = victim.auth === 'off' ? 0 : 1;
      for (const row of ROWS) {
        if (only !== undefined && !only.includes(row.id)) continue;
        if (row.only === 'firefox') continue;
        const target = row.targets[i++ % row.targets.length];
        {
          const o = await lane.attack(row, target ?? 'power');
          const line = `${victim.auth} ${victim.isGuarded ? 'on ' : 'OFF'} ${row.id} ${target}: ${o.succeeded ? 'SUCCEEDED' : 'failed'} ${o.hasArrived ? '' : 'NOT ARRIVED'} ${Math.round(o.tookMs)} ms; ${o.exchanges.map((e) => `${e.method} ${e.path} o=${e.headers.get('origin')} s=${e.headers.get('sec-fetch-site')} ct=${e.headers.get('content-type')} -> ${e.status} ${e.answerHeaders.get('x-error-code') ?? ''}`).join('; ')} ${o.succeeded ? '' : JSON.stringify(o.loot).slice(0, 200)}`;
          if (o.succeeded === victim.isGuarded || !o.hasArrived) t.fail(line);
          else console.error(line);
        }
      }
    }),
  );
});
