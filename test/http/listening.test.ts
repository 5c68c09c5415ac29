/** Addresses to listen on, with an engine that can listen on none. */
import t from 'tap';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { listenAll } from '#src/http/connections/listening.js';
import { type Engine, ListenError } from '#src/http/engine.js';

/** Refuses all addresses but `free`, and notes what was tried. */
function engineWith(free: readonly string[]) {
  const tried: string[] = [];
  const listen: Engine['listen'] = async (host, port) => {
    tried.push(host);
    if (!free.includes(host)) throw new ListenError(host, port);
    return port;
  };
  // Nothing else of an engine is used here.
  return { engine: { listen } as Engine, tried };
}

t.test(
  '[9.port-cause] the error names the address that was set, and not the one that was tried after it',
  async (t) => {
    const { engine, tried } = engineWith([]);
    await t.rejects(listenAll(engine, DEFAULT_CONFIG.server), new ListenError('::', 9990));
    t.same(tried, ['::', '0.0.0.0']);
    const other = engineWith([]);
    await t.rejects(
      listenAll(other.engine, { ...DEFAULT_CONFIG.server, host: '127.0.0.1' }),
      new ListenError('127.0.0.1', 9990),
    );
    t.same(other.tried, ['127.0.0.1']);
  },
);

t.test('without IPv6 the service listens on all IPv4 addresses', async (t) => {
  const { engine } = engineWith(['0.0.0.0']);
  t.same(await listenAll(engine, DEFAULT_CONFIG.server), [{ scheme: 'http', host: '0.0.0.0', port: 9990 }]);
});
