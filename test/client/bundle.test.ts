/** The size of the client in a page. */
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import t from 'tap';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const MOST_BYTES = 9.25 * 1024;
/** Without what only a hub has. */
const MOST_OF_SERVICE_BYTES = 7.85 * 1024;

async function bundle(exports: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export ${exports} from './dist/client/client.js'`, resolveDir: ROOT },
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    metafile: true,
    write: false,
  });
  const [{ contents = new Uint8Array() } = {}] = outputFiles;
  return { bytes: gzipSync(contents, { level: 9 }).length, inputs: Object.keys(metafile.inputs) };
}

t.test('programs import it as hostwire/client', async (t) => {
  // The compiler sees the sources, and not this file.
  const name: string = 'hostwire/client';
  const offered = Object.keys(await import(name)).sort();
  t.strictSame(offered, [
    ...['ClientError', 'connect', 'connectHub', 'history', 'host', 'hosts', 'processesAt', 'request'],
    ...['streamFleet', 'streamStats'],
  ]);
});

t.test('all of it, and the stream alone', async (t) => {
  const all = await bundle('*');
  const stream = await bundle('{ streamStats }');
  t.ok(all.bytes <= MOST_BYTES, `${all.bytes} bytes gzipped`);
  const service = await bundle('{ ClientError, connect, history, processesAt, request, streamStats }');
  t.ok(service.bytes <= MOST_OF_SERVICE_BYTES, `${service.bytes} bytes gzipped without a hub`);
  t.ok(stream.bytes < service.bytes * 0.7, 'who needs the stream only does not load the rest');
  t.comment(`figure: client gzipped ${all.bytes} bytes, streamStats alone ${stream.bytes} bytes`);
  t.strictSame(
    all.inputs.filter((file) => file !== '<stdin>' && !file.startsWith('dist/client/')),
    [],
    'it contains no other library',
  );
});
