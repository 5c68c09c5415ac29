// The health check of the container image: exits with 0 when /api/status answers {"status":"ok"}.
import { execFileSync } from 'node:child_process';
import http from 'node:http';
import https from 'node:https';
import process from 'node:process';

const LIMIT_MS = 8000;
const WILDCARDS = ['::', '0.0.0.0', ''];

function isHealthy({ host, port, isSecure }) {
  return new Promise((resolve) => {
    const options = {
      host: WILDCARDS.includes(host) ? '127.0.0.1' : host,
      port,
      path: '/api/status',
      // The certificate is for other names than the address used here.
      rejectUnauthorized: false,
      timeout: LIMIT_MS,
    };
    const request = (isSecure ? https : http).get(options, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part) => {
        text += part;
      });
      answer.on('end', () => resolve(answer.statusCode === 200 && /"status":\s*"ok"/.test(text)));
      answer.on('error', () => resolve(false));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

/** Returns the service's listen address according to its configuration. */
function readPlace() {
  const main = new URL('dist/main.js', import.meta.url).pathname;
  let text;
  try {
    text = execFileSync(process.execPath, [main, 'check', '--json'], { encoding: 'utf8', timeout: LIMIT_MS });
  } catch (error) {
    // It exits with 1 for a warning too, such as an unknown key.
    text = error.stdout ?? '';
  }
  const { settings } = JSON.parse(text);
  const read = (key) => settings[key]?.value ?? undefined;
  const isSecure = read('server.tls.cert') !== undefined;
  const port = (isSecure ? read('server.tls.port') : undefined) ?? read('server.port');
  return { host: read('server.host'), port, isSecure };
}

/** Reading the configuration costs three times as much as asking, so it is read only if this address fails. */
const usual = {
  host: process.env.HOSTWIRE_SERVER_HOST ?? '',
  port: Number(process.env.HOSTWIRE_SERVER_PORT ?? 9990),
  isSecure: false,
};

try {
  process.exitCode = (await isHealthy(usual)) || (await isHealthy(readPlace())) ? 0 : 1;
} catch (error) {
  console.error(`the configuration cannot be read: ${error.message}`);
  process.exitCode = 1;
}
