/** Reads back from evdev what a keyboard in the virtual machine did. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Machine } from './machine.ts';

/** struct input_event of a 64-bit kernel: two longs of time, type, code, value. */
const EVENT_BYTES = 24;
const EV_KEY = 1;

/** Key transitions, e.g. "163 down", that the keyboard called `name` makes while `act` runs. */
export async function pressedKeys(
  vm: Machine,
  name: string,
  act: () => Promise<void>,
): Promise<readonly string[]> {
  const start = await vm.run(`
    event=$(grep -A5 'Name="${name}"' /proc/bus/input/devices | grep -o 'event[0-9]*')
    test -n "$event" || exit 1
    systemd-run --quiet --unit=keys --property=StandardOutput=file:/run/keys cat /dev/input/$event
    sleep 1`);
  if (start.code !== 0) throw new Error(`no keyboard called ${name}: ${start.text}`);
  await act();
  await sleep(1000);
  const { text } = await vm.run('systemctl stop keys; base64 -w0 /run/keys');
  const bytes = Buffer.from(text, 'base64');
  const keys: string[] = [];
  for (let at = 0; at + EVENT_BYTES <= bytes.length; at += EVENT_BYTES) {
    if (bytes.readUInt16LE(at + 16) !== EV_KEY) continue;
    keys.push(`${bytes.readUInt16LE(at + 18)} ${bytes.readInt32LE(at + 20) === 0 ? 'up' : 'down'}`);
  }
  return keys;
}
