/** The program's standard streams and signals: whatever happens to its terminal or the reader of its log, it serves. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { EventStream } from '../../helpers/clients/event-stream.ts';
import { ask } from '../../helpers/clients/http.ts';
import { DEAD_BUSES } from '../../helpers/service/dead-buses.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { isServed } from '../../helpers/service/served.ts';
import { serveProgram, startService } from '../../helpers/service/service.ts';

const MAIN = fileURLToPath(new URL('../../../../../dist/main.js', import.meta.url));
const NOT_ROOT = process.getuid?.() !== 0 && 'needs root, for a file system of its own';
const ENV = { ...process.env, ...DEAD_BUSES, HOSTWIRE_CONFIG: '' };

interface Kept {
  readonly port: number;
  /** Does `command` of KEEPER, and resolves with its answer. */
  readonly tell: (command: string) => Promise<string>;
}

/** Starts the program with its standard error in a `pipe`, a `terminal` or a file; the test has the other end. */
async function startKept(t: Test, kind: string, wrapper: readonly string[] = []): Promise<Kept> {
  const port = await findFreePort();
  const folder = t.testdir({ 'config.json': '{"power": {"backend": "record"}}', disk: {} });
  const config = path.join(folder, 'config.json');
  const args = [MAIN, '--config', config, '--host', '127.0.0.1', '--port', String(port)];
  const [command = '', ...words] = [...wrapper, 'python3', '-c', KEEPER, kind, process.execPath, ...args];
  const keeper = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'], env: ENV });
  t.teardown(() => keeper.stdin.end());
  const answers = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
  const tell = async (command: string) => {
    keeper.stdin.write(`${command}\n`);
    const { value } = await answers.next();
    return String(value);
  };
  t.ok(await isServed(port), 'it starts');
  return { port, tell };
}

/** Its first argument is the kind of standard error, the others the program. It ends the program when its input ends. */
const KEEPER = `
import fcntl, json, os, signal, subprocess, sys, termios, time
kind, program = sys.argv[1], sys.argv[2:]
if kind == 'terminal': ours, theirs = os.openpty()
elif kind == 'pipe':
    ours, theirs = os.pipe()
    fcntl.fcntl(theirs, 1031, 4096) # F_SETPIPE_SZ
else: ours, theirs = None, os.open(kind, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def settle():
    if kind == 'terminal': fcntl.ioctl(0, termios.TIOCSCTTY, 0)
child = subprocess.Popen(program, stdin=theirs if kind == 'terminal' else subprocess.DEVNULL, stdout=theirs,
                         stderr=theirs, start_new_session=True, preexec_fn=settle)
os.close(theirs)
for line in sys.stdin:
    word, _, rest = line.strip().partition(' ')
    if word == 'close': os.close(ours); answer = 'closed'
    elif word == 'hang-up':
        for i in range(int(rest)):
            child.send_signal(signal.SIGHUP)
            time.sleep(0.01)
        answer = 'sent'
    elif word == 'read':
        os.set_blocking(ours, False)
        text, until = b'', time.monotonic() + float(rest)
        while time.monotonic() < until:
            try: text += os.read(ours, 1 << 20)
            except BlockingIOError: time.sleep(0.02)
        answer = json.dumps(text.decode())
    elif word == 'fill':
        # Fill the log's last page: its rest would accept lines even on a full disk.
        with open(kind, 'ab') as log: log.write(b'\\n' * (-os.path.getsize(kind) % 4096))
        filler = os.open(kind + '.filler', os.O_WRONLY | os.O_CREAT)
        try:
            while True: os.write(filler, b'x' * 1024)
        except OSError: answer = 'full'
    elif word == 'free': os.unlink(kind + '.filler'); os.close(filler); answer = 'free'
    elif word == 'text': answer = json.dumps(open(kind).read())
    else:
        child.terminate()
        answer = str(child.wait(10))
    print(answer, flush=True)
child.kill()
`;

/** Causes log lines, and checks that a stream that was open before continues. */
async function checkServes(t: Test, { port, tell }: Kept): Promise<void> {
  const stream = await EventStream.openIn(t, port);
  await stream.next();
  await tell('hang-up 5');
  t.equal((await ask(port, '/api/usage', { headers: { Host: 'host.example.org' } })).status, 403);
  for (let event = 0; event < 2; event++) await stream.next();
  t.ok(await isServed(port));
}

t.test('a full disk under its log', async (t) => {
  const { port, tell } = await startKept(t, '/dev/full');
  await checkServes(t, { port, tell });
  t.equal(await tell('stop'), '0');
});

t.test('a reader of its log that has gone', async (t) => {
  const { port, tell } = await startKept(t, 'pipe');
  await tell('close');
  await checkServes(t, { port, tell });
  t.equal(await tell('stop'), '0');
});

t.test('a pipe without a reader blocks nothing, and a later reader gets everything', async (t) => {
  // The pipe holds 4 KiB; the log writes at most 50 of these lines per minute.
  const { port, tell } = await startKept(t, 'pipe');
  await tell('hang-up 90');
  t.ok(await isServed(port));
  const text = String(JSON.parse(await tell('read 1')));
  t.ok(text.length > 4096, `${text.length} bytes`);
  const lines = text.trimEnd().split('\n');
  for (const line of lines) t.match(line, /^\d{4}-\S+Z hostwire (?:info|warn): /);
  t.equal(await tell('stop'), '0');
});

t.test('a disk that is full for a while: the lost lines are counted', { skip: NOT_ROOT }, async (t) => {
  const disk = path.join(t.testdirName, 'disk');
  const { port, tell } = await startKept(t, path.join(disk, 'log'), [
    'unshare',
    '--mount',
    'sh',
    '-c',
    'mount -t tmpfs -o size=64k none "$0" && exec "$@"',
    disk,
  ]);
  await tell('fill');
  await tell('hang-up 30');
  t.ok(await isServed(port));
  await tell('free');
  await tell('hang-up 1');
  const text = String(JSON.parse(await tell('text')));
  const lost = Number(/ (\d+) lines of the log were lost: they could not be written\n/.exec(text)?.[1]);
  t.ok(lost > 10, `${lost} were lost`);
  t.match(text, /no changes\n$/, 'the next one is there');
  t.equal(await tell('stop'), '0');
});

t.test('a terminal that is closed', async (t) => {
  const { port, tell } = await startKept(t, 'terminal');
  await tell('close');
  await sleep(200);
  await checkServes(t, { port, tell });
  t.equal(await tell('stop'), '0', 'and it ends in good order');
});

for (const [what, output, code] of [
  ['a full disk', '/dev/full', 1],
  ['a file', '/dev/null', 0],
] as const)
  t.test(`check, doctor and --version that write to ${what}`, async (t) => {
    const config = path.join(t.testdir({ 'config.json': '{"power": {"backend": "record"}}' }), 'config.json');
    const place = ['--host', '127.0.0.1', '--port', String(await findFreePort())];
    for (const words of [['check'], ['doctor', ...place], ['--version']] as const) {
      const [stdout, stderr] = [openSync(output, 'w'), openSync(output, 'w')];
      const child = spawn(process.execPath, [MAIN, ...words, '--config', config], {
        stdio: ['ignore', stdout, stderr],
        env: ENV,
      });
      closeSync(stdout);
      closeSync(stderr);
      t.strictSame(await once(child, 'exit'), [code, null], words.join(' '));
    }
  });

const ROOT = path.resolve(import.meta.dirname, '../../../../..');

t.test('SIGUSR1 opens no inspector, SIGTTOU stops nothing, and SIGPIPE ends nothing', async (t) => {
  const service = await serveProgram(t);
  process.kill(service.pid, 'SIGUSR1');
  process.kill(service.pid, 'SIGTTOU');
  process.kill(service.pid, 'SIGPIPE');
  await sleep(500);
  t.equal((await ask(service.port, '/api/status')).status, 200);
  t.notMatch(service.stderr(), /[Dd]ebugger/);
  const listening = readFileSync('/proc/net/tcp', 'latin1');
  const ports = new Set(
    [...listening.matchAll(/: [0-9A-F]+:([0-9A-F]{4}) \S+ 0A /g)].map(([, port]) =>
      Number.parseInt(`${port}`, 16),
    ),
  );
  t.ok(ports.has(service.port));
  const isOpen = await new Promise<boolean>((resolve) => {
    const socket = net.connect(9229, '127.0.0.1', () => socket.end(() => resolve(true)));
    socket.once('error', () => resolve(false));
  });
  t.notOk(isOpen && !service.stderr().includes('in use'), 'nothing answers on its port');
});

t.test('SIGHUP before it listens', async (t) => {
  let wasHandled: boolean | undefined;
  const service = await startService({
    start: (command, args, how) => {
      const child = spawn(command, args, how);
      // With the first line of its log it has only begun to start.
      child.stderr?.once('data', () => {
        wasHandled = hasHandler(child.pid ?? 0, 1);
        child.kill('SIGHUP');
      });
      return child;
    },
  });
  t.equal(wasHandled, true, 'a hang-up of its terminal would not have ended it');
  t.equal((await ask(service.port, '/api/status')).status, 200);
  t.match(await service.stop(), { code: 0 });
});

/** Whether the process catches signal `number` (SigCgt of proc_pid_status(5)). */
function hasHandler(pid: number, number: number): boolean {
  try {
    const caught = /^SigCgt:\s*([0-9a-f]+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0';
    return ((BigInt(`0x${caught}`) >> BigInt(number - 1)) & 1n) === 1n;
  } catch {
    return false;
  }
}

t.test('SIGTERM to "npm start" ends the service too', async (t) => {
  const port = await findFreePort();
  const config = path.join(t.testdir({ 'config.json': '{"power": {"backend": "record"}}' }), 'config.json');
  const npm = spawn(
    'npm',
    ['start', '--', '--config', config, '--host', '127.0.0.1', '--port', String(port)],
    { cwd: ROOT, stdio: 'ignore', env: ENV },
  );
  t.teardown(() => npm.kill('SIGKILL'));
  const ended = once(npm, 'exit');
  t.ok(await isServed(port));
  npm.kill('SIGTERM');
  await ended;
  t.ok(await isServed(port, false), 'nothing stays behind');
});
