/** Runs inside node.exe: prints the addon's answers on Windows for a test that judges them outside. */
import '../../helpers/service/dead-buses.ts';
import { writeSync } from 'node:fs';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { ALL_SECTIONS } from '#src/host/host.js';
import { findMachineDataFolder, openNativeHost } from '#src/host/native.js';

const host = openNativeHost();
const first = host.readCounters(ALL_SECTIONS, true, 0);
await sleep(600);
const second = host.readCounters(ALL_SECTIONS, true, 400);
await sleep(600);
let third = host.readCounters(ALL_SECTIONS, true, 400);
// A prober's answers may take seconds on a busy machine.
for (let i = 0; i < 40 && third.cpu?.speedHz === null; ++i) {
  await sleep(500);
  third = host.readCounters(ALL_SECTIONS, true, 400);
}
// Wine's own graphics take seconds to begin.
for (let i = 0; i < 40 && process.env['HOSTWIRE_WAITS_FOR_GPU'] !== undefined; ++i) {
  if ((third.gpu?.length ?? 0) > 0) break;
  await sleep(500);
  third = host.readCounters(ALL_SECTIONS, true, 400);
}
const plain = host.readCounters(ALL_SECTIONS, false, 0);
const system = await host.readSystem();
// As main does before it opens anything.
const folder = findMachineDataFolder();
const report = {
  platform: process.platform,
  totalmem: os.totalmem(),
  cpus: os.cpus().length,
  cpuModel: os.cpus()[0]?.model,
  uptime: os.uptime(),
  hostname: os.hostname(),
  first,
  second,
  third,
  plain,
  system,
  folder,
  descriptorLimit: String(host.descriptorLimit()),
  openDescriptors: String(host.openDescriptors()),
  findings: await host.describe(new Set(['processes', 'power', 'media'])),
  connectionsFailure: await host.readConnections(1).then(
    () => 'none',
    (error: unknown) => String(error),
  ),
};
writeSync(1, JSON.stringify(report));
