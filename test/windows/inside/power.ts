/** Runs inside node.exe: asks the addon for each power action, for real, and writes the results. Only under Wine. */
import '../../helpers/service/dead-buses.ts';
import { existsSync, writeSync } from 'node:fs';
import { openNativeHost } from '#src/host/native.js';
import type { PowerAction } from '#src/host/power.js';

const ACTS: readonly PowerAction[] = ['shutdown', 'restart', 'sleep', 'hibernate', 'lock'];

// Wine's functions do nothing; a real Windows would be switched off. Only Wine shows Linux as a drive.
if (!existsSync('Z:\\proc\\self\\status')) throw new Error('this is no Wine');
const machine = openNativeHost();
const { power } = machine;
const results: Record<string, unknown> = {
  findings: (await machine.describe(new Set(['processes', 'media']))).filter(
    ({ subject }) => subject === 'power' || ACTS.some((act) => act === subject),
  ),
  inhibitors: await power?.inhibitors(),
};
for (const act of ACTS) {
  const support = await power?.support(act);
  const failure = await power?.act(act).then(
    () => null,
    (error: unknown) => String(error),
  );
  results[act] = { support, failure };
}
writeSync(1, JSON.stringify(results));
