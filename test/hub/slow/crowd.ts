/**
 * The two crowds around a hub, each a program of its own so that neither is measured with it:
 *   agents PORT             a thousand agents, one per address 127.1.x.y, each with a sample per second while it is watched
 *   viewers PORT COUNT HOSTS    viewers of random hosts; prints what they saw as JSON when its standard input ends
 */
import net from 'node:net';
import process from 'node:process';

const now = () => performance.timeOrigin + performance.now();
const HEAD =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n';

/** As large as a plain sample of a machine with three mounts. */
const REST =
  ',"current_temp":51.2,"current_speed":3.4},"memory":{"used":1154760704,"free":24121266176,"used_percent":4.6},"gpu":null,"disks":[{"fs":"/","used":42949672960,"available":59055800320,"used_percent":42.1},{"fs":"/home","used":42949672960,"available":59055800320,"used_percent":42.1},{"fs":"/srv","used":42949672960,"available":59055800320,"used_percent":42.1}],"network":{"bytesRecv":123456789012,"bytesSent":98765432109}}';

function serveAgents(port: number): void {
  const server = net.createServer({ noDelay: true }, (socket) => {
    let number = 0;
    let timer: NodeJS.Timeout | undefined;
    const send = () => {
      const cpu = `"uptime":2311,"cpu":{"current_load":${(100 * Math.random()).toFixed(1)}`;
      const event = `data: {"timestamp":${Math.floor(now() / 1000)},"number":${++number},"sent":${now().toFixed(3)},${cpu}${REST}\n\n`;
      socket.write(`${event.length.toString(16)}\r\n${event}\r\n`);
    };
    socket.on('error', () => undefined);
    socket.on('close', () => clearInterval(timer));
    // As the service closes an idle connection.
    socket.setTimeout(10_000, () => timer === undefined && socket.end());
    socket.on('data', (bytes) => {
      const request = bytes.toString('latin1');
      if (request.startsWith('GET /api/stream')) {
        socket.write(HEAD);
        send();
        // Spread over the second, as those of a thousand machines are.
        setTimeout(() => {
          timer = setInterval(send, 1000);
        }, Math.random() * 1000);
        return;
      }
      const isHead = request.startsWith('HEAD');
      const body = isHead ? '' : '{"hostname":"simulated"}';
      const type = isHead ? 'text/event-stream' : 'application/json';
      const clock = `X-Hostwire-Clock: abc ${Math.floor(performance.now())}`;
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n${clock}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
  });
  server.listen({ port, host: '0.0.0.0', backlog: 4096 }, () => console.log('ready'));
}

const SHARED = Buffer.alloc(256 * 1024);

function watch(port: number, count: number, hosts: number): void {
  const delays: number[] = [];
  let lost = 0;
  let opened = 0;
  let ended = 0;
  let isMeasured = false;
  const open = (i: number) => {
    let last = 0;
    const socket = net.connect({
      port,
      host: '127.0.0.1',
      onread: {
        buffer: SHARED,
        callback(length) {
          const at = now();
          // An event is far smaller than the buffer, and arrives in one piece.
          const text = SHARED.toString('latin1', 0, length);
          for (const [, number = '', sent = ''] of text.matchAll(/"number":(\d+),"sent":([\d.]+)/g)) {
            if (last === 0) opened++;
            else if (Number(number) !== last + 1) lost++;
            else if (isMeasured) delays.push(at - Number(sent));
            last = Number(number);
          }
          if (opened === count && !isMeasured) {
            isMeasured = true;
            console.log('ready');
          }
          return true;
        },
      },
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (last > 0) ended++;
      // Refused: the first samples of a thousand agents take their time.
      else setTimeout(open, 500, i);
    });
    socket.write(`GET /api/hosts/h${i % hosts}/stream HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  };
  for (let i = 0; i < count; i++) setTimeout(open, i, i);
  process.stdin.on('end', () => {
    delays.sort((a, b) => a - b);
    const quantile = (q: number) => delays[Math.floor(q * (delays.length - 1))] ?? 0;
    const seen = {
      events: delays.length,
      lost,
      ended,
      p50: quantile(0.5),
      p99: quantile(0.99),
      max: quantile(1),
    };
    console.log(JSON.stringify(seen));
    process.exit(0);
  });
  process.stdin.resume();
}

const [what, ...numbers] = process.argv.slice(2);
const [port = 0, count = 0, hosts = 1] = numbers.map(Number);
if (what === 'agents') serveAgents(port);
else watch(port, count, hosts);
