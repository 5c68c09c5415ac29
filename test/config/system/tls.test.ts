/** `server.tls`: a key of another user. */
import { chownSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { loadConfig } from '#src/config/load.js';
import { makePair } from '../../helpers/certificates.ts';
import { catchProblems, makeFolder, optionsFor, shorten, writeFiles } from '../loading.ts';
import { filesOf } from '../tls-files.ts';

t.test(
  '[8.tls-rights] files that are not the service’s own',
  { skip: process.getuid?.() !== 0 && 'only root can give a file to another user' },
  async (t) => {
    const folder = makeFolder(t);
    writeFiles(folder, filesOf(await makePair()));
    const options = optionsFor(folder);
    const problems = () =>
      catchProblems(() => loadConfig({ ...options, surroundings: { ...options.surroundings, uid: 0 } })).map(
        (problem) => shorten(problem).replaceAll(`${folder}/`, ''),
      );
    t.same(problems(), []);
    chownSync(path.join(folder, 'key.pem'), 4711, 4711);
    t.same(problems(), [
      'config.yaml:4 server.tls.key key.pem: belongs to user 4711, not to root; run chown 0 on it, or use another',
    ]);
  },
);
