/** One virtual machine under qemu: its start, commands inside it, qemu's own events, its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../helpers/service/free-port.ts';
import type { Image } from './image.ts';

/** How a command in the machine ended. */
export interface Ran {
  readonly code: number;
  /** Standard output and standard error together. */
  readonly text: string;
}

/** An event of the machine as a whole, from qemu, e.g. RESET, SHUTDOWN, SUSPEND, WAKEUP. */
export interface MachineEvent {
  readonly name: string;
  /** Time by this computer's clock, in Unix milliseconds. */
  readonly atMs: number;
}

export interface Machine {
  readonly pid: number;
  /** On 127.0.0.1; leads to port 9990 in the machine. */
  readonly port: number;
  /** On 127.0.0.1; leads to port 9991 in the machine. */
  readonly otherPort: number;
  /** Output of the kernel and systemd on the serial line so far. */
  readonly console: () => string;
  readonly events: () => readonly MachineEvent[];
  /** Waits until the machine takes commands: at the start and after a restart. */
  readonly ready: () => Promise<void>;
  /** Runs a bash script in it as root. Rejects if the machine goes away or prints nothing for `limitMs`. */
  readonly run: (script: string, limitMs?: number) => Promise<Ran>;
  /** Sends qemu a command such as system_wakeup. */
  readonly send: (command: string, args?: Readonly<Record<string, unknown>>) => void;
  /** Settles with qemu's exit code when it has ended. */
  readonly ended: Promise<number | null>;
  readonly kill: () => void;
}

/** Emulated, a machine is some ten times slower than a real one. */
const READY_LIMIT_MS = 180_000;
const COMMAND_LIMIT_MS = 60_000;

/** Everything qemu may touch is in `folder`; its network reaches nothing but the two forwarded ports. */
function qemuArguments(image: Image, folder: string, ports: readonly [number, number]): readonly string[] {
  const forwards = [9990, 9991].map((inside, i) => `hostfwd=tcp:127.0.0.1:${ports[i]}-:${inside}`);
  return [
    ...['-accel', 'tcg', '-cpu', 'max', '-smp', '2', '-m', '768', '-display', 'none', '-nodefaults'],
    ...['-kernel', image.kernel, '-initrd', image.initramfs],
    ...['-append', 'console=ttyS0 mitigations=off panic=-1'],
    ...image.disks.flatMap((file) => ['-drive', `file=${file},format=raw,if=virtio,cache=unsafe`]),
    ...['-nic', `user,model=virtio-net-pci,restrict=on,${forwards.join(',')}`],
    ...['-serial', 'stdio'],
    ...['-device', 'virtio-serial-pci', '-device', 'virtserialport,chardev=agent,name=agent'],
    ...['-chardev', `socket,id=agent,path=${path.join(folder, 'agent')},server=on,wait=off`],
    ...['-qmp', `unix:${path.join(folder, 'qmp')},server=on,wait=off`],
    ...(image.devices ?? []),
  ];
}

async function connect(file: string, child: ChildProcess): Promise<net.Socket> {
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error('qemu ended at once');
    await sleep(20);
  }
  const socket = net.connect(file);
  await once(socket, 'connect');
  return socket.setEncoding('utf8');
}

function eachLine(socket: net.Socket, take: (line: string) => void): void {
  let rest = '';
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(take);
  });
}

/** qemu's control socket: its events, and a way to send it commands. */
async function control(folder: string, child: ChildProcess, onEvent: (event: MachineEvent) => void) {
  const socket = await connect(path.join(folder, 'qmp'), child);
  socket.on('error', () => {});
  eachLine(socket, (line) => {
    // qemu's protocol, from a program that this test started itself.
    const message = JSON.parse(line) as {
      readonly event?: string;
      readonly timestamp?: { readonly seconds: number; readonly microseconds: number };
    };
    if (message.event === undefined || message.timestamp === undefined) return;
    const { seconds, microseconds } = message.timestamp;
    onEvent({ name: message.event, atMs: seconds * 1000 + microseconds / 1000 });
  });
  const send = (command: string, args: Readonly<Record<string, unknown>> = {}) =>
    socket.write(`${JSON.stringify({ execute: command, arguments: args })}\n`);
  send('qmp_capabilities');
  return send;
}

/** The agent in the machine: one command at a time, a line each way. */
function commands(socket: net.Socket) {
  let take: (line: string) => void = () => {};
  let isReady = false;
  socket.on('error', () => {});
  eachLine(socket, (line) => {
    if (line.trim() === 'ready') isReady = true;
    else take(line);
  });
  const run = async (script: string, limitMs = COMMAND_LIMIT_MS): Promise<Ran> => {
    const limit = AbortSignal.timeout(limitMs);
    let onClose = () => {};
    const answered = new Promise<string>((resolve, reject) => {
      take = resolve;
      onClose = () => reject(new Error('the machine is gone'));
      limit.addEventListener('abort', () => reject(new Error(`no answer in ${limitMs} ms: ${script}`)));
    });
    socket.once('close', onClose);
    socket.write(`${Buffer.from(script).toString('base64')}\n`);
    const [code, text = ''] = (await answered.finally(() => socket.off('close', onClose))).split(' ');
    return { code: Number(code), text: Buffer.from(text, 'base64').toString().replace(/\n+$/, '') };
  };
  return { run, isReady: () => isReady, forget: () => (isReady = false) };
}

/** Starts the machine; it continues booting after this settles (`ready` waits for that). */
export async function boot(image: Image, folder: string): Promise<Machine> {
  const ports = [await findFreePort(), await findFreePort()] as const;
  const args = qemuArguments(image, folder, ports);
  const child = spawn('nice', ['-n', '5', 'qemu-system-x86_64', ...args], { stdio: 'pipe' });
  let consoleText = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (consoleText += text));
  const ended = once(child, 'exit').then(() => child.exitCode);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const events: MachineEvent[] = [];
  let agent: ReturnType<typeof commands> | undefined;
  const send = await control(folder, child, (event) => {
    events.push(event);
    if (event.name === 'RESET') agent?.forget();
  });
  agent = commands(await connect(path.join(folder, 'agent'), child));
  const { run, isReady } = agent;
  const ready = async () => {
    const end = Date.now() + READY_LIMIT_MS;
    while (!isReady()) {
      if (child.exitCode !== null) throw new Error(`the machine ended: ${consoleText.slice(-2000)}`);
      if (Date.now() > end) throw new Error(`the machine does not come up: ${consoleText.slice(-2000)}`);
      await sleep(50);
    }
  };
  const [port, otherPort] = ports;
  return {
    pid: child.pid ?? -1,
    port,
    otherPort,
    console: () => consoleText,
    events: () => events,
    ready,
    run,
    send,
    ended,
    kill,
  };
}
