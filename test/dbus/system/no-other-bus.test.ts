/** An address of a bus that is set and leads nowhere is the only one that is tried: its connections, seen by strace. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { emptyFolder } from '../../helpers/scope.ts';
import { startService } from '../../helpers/service/service.ts';

t.test(
  '[5.no-other-bus] an address that is set and leads nowhere is the only one tried',
  { skip: (process.platform !== 'linux' && 'for Linux') || (!existsSync('/usr/bin/strace') && 'no strace') },
  async (t) => {
    const folder = emptyFolder(t, 'trace');
    const trace = path.join(folder, 'trace');
    const service = await startService({
      config: { power: { backend: 'system' } },
      start: (command, args, how) =>
        spawn('/usr/bin/strace', ['-f', '-qq', '-e', 'trace=connect', '-o', trace, command, ...args], how),
    });
    const answer = await fetch(`${service.baseUrl}/api/pw/sleep`, { method: 'POST' });
    t.equal(answer.status, 501);
    await fetch(`${service.baseUrl}/api/pw`);
    // Long enough for another attempt.
    await sleep(2000);
    // strace forwards no signal to the program it traces, so this ends the children of its child.
    const [child] = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8')
      .trim()
      .split(' ');
    process.kill(Number(child), 'SIGTERM');
    await service.stop('SIGCONT');
    const local = readFileSync(trace, 'utf8').match(/AF_UNIX, sun_path=@?"[^"]*"/g) ?? [];
    t.ok(local.length >= 2, `${local.length} attempts`);
    t.strictSame([...new Set(local)], ['AF_UNIX, sun_path="/dev/null/no-bus"']);
  },
);
