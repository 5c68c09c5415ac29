/** Tries DNS rebinding in Chromium and in Firefox, on a private machine. */
import '../helpers/service/dead-buses.ts';
import process from 'node:process';
import { reasonAgainstChromium, startChromium } from '../browser/attack/chromium.ts';
import { reasonAgainstFirefox, startFirefox } from '../browser/attack/firefox.ts';
import { isInside, reasonAgainstMachine, runInside } from '../browser/rebinding/private-machine.ts';
import { proveNames } from '../browser/rebinding/suite.ts';

const BROWSERS = [
  { name: 'Chromium', start: startChromium },
  { name: 'Firefox', start: startFirefox },
];
const skip = reasonAgainstChromium || reasonAgainstFirefox || (!isInside() && reasonAgainstMachine());

async function prove(): Promise<void> {
  // Not before: it prints a plan of its own, and outside the private machine the output is that of the inner program.
  const { default: t } = await import('tap');
  t.setTimeout(3_600_000);
  for (const { name, start } of BROWSERS) t.test(`names in ${name}`, { skip }, (t) => proveNames(t, start));
}

if (isInside() || skip !== false) await prove();
else process.exitCode = await runInside();
