/** Tries DNS rebinding in Chromium and in Firefox; writes a section of docs/evidence/security-proof.md. */
import '../helpers/service/dead-buses.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { reasonAgainstChromium, startChromium } from '../browser/attack/chromium.ts';
import { reasonAgainstFirefox, startFirefox } from '../browser/attack/firefox.ts';
import { isInside, reasonAgainstMachine, runInside } from '../browser/rebinding/private-machine.ts';
import { renderSection, withSection } from '../browser/rebinding/section.ts';
import { proveNames, type Run } from '../browser/rebinding/suite.ts';

const PAGE = path.resolve(import.meta.dirname, '../../../../docs/evidence/security-proof.md');
const BROWSERS = [
  { name: 'Chromium', start: startChromium },
  { name: 'Firefox', start: startFirefox },
];
const skip = reasonAgainstChromium || reasonAgainstFirefox || (!isInside() && reasonAgainstMachine());

async function prove(): Promise<void> {
  // Not before: it prints a plan of its own, and outside the private machine the output is that of the inner program.
  const { default: t } = await import('tap');
  t.setTimeout(3_600_000);
  const runs: Run[] = [];
  for (const { name, start } of BROWSERS)
    t.test(`names in ${name}`, { skip }, async (t) => {
      runs.push(await proveNames(t, start));
    });
  t.test('the section is written', { skip }, async (t) => {
    if (!t.equal(runs.length, BROWSERS.length, 'both have run')) return;
    const section = renderSection(runs, new Date().toISOString().slice(0, 10));
    writeFileSync(PAGE, withSection(readFileSync(PAGE, 'utf8'), section));
  });
}

if (isInside() || skip !== false) await prove();
else process.exitCode = await runInside();
