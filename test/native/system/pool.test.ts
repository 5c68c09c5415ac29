/** Calls that hang in the kernel use their own threads, never one of libuv's pool, which reads files for all of Node. */
import { execFile } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import t from 'tap';
import { programPath, whyNoProgram } from '../../helpers/native/program.ts';

const program = path.join(import.meta.dirname, 'pool-program.js');

t.test(
  'while addresses are not answered, files are read and the machine is described',
  { skip: whyNoProgram('hung_calls.so') },
  async (t) => {
    const env = { ...process.env, LD_PRELOAD: programPath('hung_calls.so'), UV_THREADPOOL_SIZE: '1' };
    const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
    t.same(JSON.parse(stdout), { first: 'a file', hostname: os.hostname(), addresses: null });
  },
);
