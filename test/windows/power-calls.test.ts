/** The addon's own calls for power, as Wine prints them: Wine does nothing for any of them. */
import path from 'node:path';
import t from 'tap';
import { runNode, windowsPath } from './wine.ts';

const script = windowsPath(path.join(import.meta.dirname, 'inside/power.js'));

t.setTimeout(280_000);
t.test('[5.windows] each act is one call of Windows, with the arguments it takes', async (t) => {
  const { code, stdout, stderr } = await runNode([script], {
    env: { WINEDEBUG: '-all,fixme+advapi,fixme+powrprof' },
  });
  t.equal(code, 0, stderr);
  const calls = stderr
    .split('\n')
    .map((line) => /fixme:(?:advapi|powrprof):(InitiateSystemShutdown\w+|SetSuspendState) (.*)$/.exec(line))
    .flatMap((match) =>
      match === null ? [] : [`${match[1]} ${match[2]}`.replace(/\s*stub!?\s*$/i, '').trim()],
    );
  // Machine, message, seconds, forced, restart, reason (planned); hibernation, forced, wake events disabled.
  t.same(calls, [
    'InitiateSystemShutdownExW (null) (null) 0 1 0 0x80000000',
    'InitiateSystemShutdownExW (null) (null) 0 1 1 0x80000000',
    'SetSuspendState (0, 0, 0)',
    'SetSuspendState (1, 0, 0)',
  ]);
  const supported = { isSupported: true, reason: null };
  // On a busy machine Wine takes longer than the service waits, and the call was made all the same.
  const acts = stdout.replaceAll(/"Error: Windows did not answer within \d+ ms[^"]*"/g, 'null');
  t.match(JSON.parse(acts), {
    findings: ['power', 'shutdown', 'restart', 'sleep', 'hibernate', 'lock'].map((subject) => ({
      subject,
      status: 'works',
      source: subject === 'power' ? 'Windows on this machine' : 'possible',
    })),
    inhibitors: [],
    shutdown: { support: supported, failure: null },
    restart: { support: supported, failure: null },
    sleep: { support: supported, failure: null },
    hibernate: { support: supported, failure: null },
    // Wine reports what it cannot do; nothing is made up.
    lock: { support: supported, failure: /^Error: LockWorkStation: .*\(120\)$/ },
  });
});
