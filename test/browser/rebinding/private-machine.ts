/** A machine of the proof's own: network and host name are private, so LAN and tailnet addresses are real ones. */
import { spawn, spawnSync } from 'node:child_process';
import os from 'node:os';
import process from 'node:process';
import { HOST_NAME, IPV6_ADDRESS, SITES } from './names.ts';

const [, lan, tailnet] = SITES;

/** The machine's end of a cable has its addresses, the other end those of the owner's other devices. */
const SET_UP = [
  'set -e',
  `echo ${HOST_NAME} > /proc/sys/kernel/hostname`,
  'ip link set lo up',
  'ip link add lan0 type veth peer name lan1',
  `ip address add ${lan?.address}/24 dev lan0`,
  `ip address add ${tailnet?.address}/10 dev lan0`,
  `ip address add ${IPV6_ADDRESS}/64 dev lan0 nodad`,
  `ip address add ${lan?.from}/24 dev lan1`,
  `ip address add ${tailnet?.from}/10 dev lan1`,
  'ip link set lan0 up',
  'ip link set lan1 up',
].join('\n');

const UNSHARE = ['--net', '--uts', 'sh', '-c'];

/** Whether this process runs on the private machine. */
export const isInside = (): boolean =>
  os.hostname() === HOST_NAME && Object.keys(os.networkInterfaces()).includes('lan0');

/** Why there can be no private machine here; false when there can. */
export function reasonAgainstMachine(): string | false {
  if (process.getuid?.() !== 0) return 'needs root, for a network namespace';
  const { status, stderr, error } = spawnSync('unshare', [...UNSHARE, SET_UP], { encoding: 'utf8' });
  return status !== 0 && `needs a network namespace and virtual interfaces: ${error?.message ?? stderr}`;
}

/** Runs this program again on a private machine, with the same output; returns its exit code. */
export function runInside(): Promise<number> {
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const child = spawn('unshare', [...UNSHARE, `${SET_UP}\nexec "$@"`, 'sh', ...command], {
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
