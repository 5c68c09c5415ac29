/** A private session bus, and programs on it: all end with the test. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { end, keep, startDaemon } from './daemon.ts';

export interface SessionBus {
  /** Value of DBUS_SESSION_BUS_ADDRESS. */
  readonly address: string;
  /** A folder that is removed with the bus. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly pid: () => number;
  /** Starts a program on the bus. */
  readonly spawn: (command: string, args: readonly string[]) => ChildProcess;
  /** Runs a program on the bus and returns its output; throws if it fails. */
  readonly run: (command: string, args: readonly string[]) => Promise<string>;
  /** Ends the programs on the bus, then the bus. */
  readonly stop: () => Promise<void>;
}

/** Like the usual configuration of a session, without the services that the bus would start on its own. */
const configuration = (address: string) => `<!DOCTYPE busconfig PUBLIC
 "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>${address}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
  <limit name="max_incoming_bytes">1000000000</limit>
  <limit name="max_outgoing_bytes">1000000000</limit>
  <limit name="max_message_size">1000000000</limit>
  <limit name="max_names_per_connection">50000</limit>
  <limit name="max_match_rules_per_connection">50000</limit>
  <limit name="max_replies_per_connection">50000</limit>
</busconfig>
`;

const execute = promisify(execFile);

/** `again`: a stopped bus, to restart at the same address. */
export async function startSessionBus(again?: SessionBus): Promise<SessionBus> {
  const folder = again?.folder ?? mkdtempSync(path.join(os.tmpdir(), 'hostwire-bus-'));
  mkdirSync(folder, { recursive: true });
  const address = `unix:path=${path.join(folder, 'bus')}`;
  const config = path.join(folder, 'bus.conf');
  writeFileSync(config, configuration(address));
  const daemon = await startDaemon(config);
  // Nothing of the user's own session: no other bus, no home.
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    XDG_RUNTIME_DIR: folder,
    LC_ALL: 'C.UTF-8',
    DBUS_SESSION_BUS_ADDRESS: address,
  };
  const children: ChildProcess[] = [];
  return {
    address,
    folder,
    env,
    pid: () => daemon.pid ?? 0,
    spawn(command, args) {
      const child = keep(spawn(command, args, { env, stdio: 'ignore' }));
      children.push(child);
      return child;
    },
    run: async (command, args) => (await execute(command, args, { env, timeout: 60_000 })).stdout.trim(),
    async stop() {
      for (const child of [...children, daemon]) await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
