/** A virtual machine for the length of a proof, and what proofs ask of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type { Scope } from '../helpers/scope.ts';
import { request } from './client.ts';
import type { Image } from './image.ts';
import { boot, type Machine } from './machine.ts';
import { until } from './wait.ts';

export const OK = '{"status":"ok","message":"Command initiated"}';

/** Makes a user with a session and a configuration of its own, at the machine's other port. */
export const ADD_ALICE = `useradd -m -d /var/lib/alice -s /bin/bash alice
  install -d -o alice -g alice /var/lib/alice/.config /var/lib/alice/.config/hostwire
  echo '{ "server": { "port": 9991 } }' >/var/lib/alice/.config/hostwire/config.json
  loginctl enable-linger alice && sleep 3`;

/** Boots the image that `build` makes in an empty folder, and waits until the machine takes commands. */
export async function startMachine(t: Scope, name: string, build: (folder: string) => Image) {
  const folder = mkdtempSync(path.join(os.tmpdir(), `hostwire-vm-${name}-`));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const image = build(folder);
  const builtAtMs = Date.now();
  const vm = await boot(image, folder);
  t.teardown(vm.kill);
  await vm.ready();
  return { image, builtAtMs, vm };
}

/** What the proofs ask of the service in `vm`. */
export function toolsFor(vm: Machine) {
  const get = async (at: string, port = vm.port) => JSON.parse((await request(port, 'GET', at)).body);
  return {
    get,
    serving: (port = vm.port) =>
      until('the service answers', 120_000, async () =>
        (await request(port, 'GET', '/api/status')).status === 200 ? true : undefined,
      ),
    /**
     * Waits until `action` can be done: polkit and logind start when they are first asked, which takes an emulated machine
     * more than the service waits.
     */
    powerSettled: (action: 'restart' | 'sleep') =>
      until('logind answers', 60_000, async () =>
        (await get('/api/pw')).actions[action].supported === true ? true : undefined,
      ),
    /** Returns the output of `script` in the machine; rejects if it fails. */
    inside: async (script: string, limitMs?: number) => {
      const { code, text } = await vm.run(script, limitMs);
      if (code !== 0) throw new Error(`${script}: exit code ${code}: ${text}`);
      return text;
    },
    /** Waits until qemu has reported the event. */
    event: (name: string, what: string, limitMs = 60_000) =>
      until(what, limitMs, () => vm.events().find((each) => each.name === name)),
  };
}
