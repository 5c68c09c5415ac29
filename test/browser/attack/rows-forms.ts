/** Attacks that need no script API: forms, links, reports. */
import type { Row } from './row.ts';
import { form, inPage, inSandbox, page, redirect, rowsLike, SUBMIT } from './scripts.ts';

/** The power commands ignore their body, so a form of any type reaches them; the others want JSON. */
const act = rowsLike({ from: 'foreign', does: 'act', targets: ['power'] });

/** A document as text, for frames that are made out of text. */
const submitting = (html: string) => `<!doctype html><body>${html}<script>${SUBMIT}</script>`;

const CLICKED: Partial<Row> = { isClicked: true };

export const FORM_ROWS: readonly Row[] = [
  act('form', 'a form that submits itself', inPage(SUBMIT, form)),
  act(
    'form-multipart',
    'a form with `enctype=multipart/form-data`',
    inPage(SUBMIT, (aim) => form(aim, { enctype: 'multipart/form-data' })),
  ),
  act(
    'form-json-text',
    'a form with `enctype=text/plain` whose one field spells JSON',
    inPage(SUBMIT, (aim) =>
      form(aim, { enctype: 'text/plain', fields: `<input name='{"action":"pause","a":"' value='"}'>` }),
    ),
  ),
  act(
    'form-hidden-frame',
    'a form whose target is a hidden frame: the visitor sees nothing',
    inPage(SUBMIT, (aim) => `<iframe name="f" hidden></iframe>${form(aim, { target: 'f' })}`),
  ),
  act(
    'form-new-window',
    'a form whose target is a new window, submitted by a click',
    inPage('', (aim) => form(aim, { target: '_blank', fields: '<button id="go">Win a prize</button>' })),
    CLICKED,
  ),
  act(
    'form-no-referrer',
    'a form on a page with `Referrer-Policy: no-referrer`: the browser then sends `Origin: null`',
    (aim, around) => ({
      page: { ...page(aim, around, SUBMIT, form(aim)), headers: { 'Referrer-Policy': 'no-referrer' } },
    }),
  ),
  act(
    'form-sandbox',
    'a form in a sandboxed frame (origin `null`)',
    inSandbox(SUBMIT, form, 'allow-scripts allow-forms'),
  ),
  act(
    'form-data-url',
    'a form in a frame whose document is a `data:` URL (origin `null`)',
    inPage(
      '',
      (aim) => `<iframe src="data:text/html,${encodeURIComponent(submitting(form(aim)))}"></iframe>`,
    ),
  ),
  act('form-blob-url', 'a form in a frame whose document is a `blob:` URL', (aim, around) => ({
    page: page(
      aim,
      around,
      `const html = ${JSON.stringify(submitting(form(aim))).replaceAll('</', '<\\/')};
       const frame = document.createElement('iframe');
       frame.src = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
       document.body.append(frame);`,
    ),
  })),
  act(
    'form-redirect',
    "a form to the attacker's own server, which redirects it with 307: method and body are kept",
    inPage(SUBMIT, (aim) => form(aim, { action: redirect(`${aim.service}${aim.path}`, 307) })),
  ),
  act(
    'form-image-button',
    'a form whose image is clicked, with `formaction` instead of `action`',
    inPage('', (aim) =>
      form(aim, {
        action: '/nowhere',
        fields: `<input type="image" alt="x" id="go" width="40" height="40" formaction="${aim.service}${aim.path}">`,
      }),
    ),
    CLICKED,
  ),
  act(
    'form-neighbour',
    "a form from another port of the service's own host: the same site, another origin",
    inPage(SUBMIT, form),
    { from: 'neighbour' },
  ),
  act(
    'link-ping',
    'a link with a `ping` attribute, clicked: the browser posts to it during the navigation',
    inPage('', (aim) => `<a id="go" href="#there" ping="${aim.service}${aim.path}">News</a>`),
    // Firefox has it switched off.
    { ...CLICKED, only: 'chromium' },
  ),
  act(
    'csp-report',
    'a Content-Security-Policy whose violation the browser reports (`report-uri`) to the service',
    (aim, around) => ({
      page: {
        ...page(aim, around, '', '<img src="/x" alt="">'),
        headers: { 'Content-Security-Policy': `img-src 'none'; report-uri ${aim.service}${aim.path}` },
      },
    }),
  ),
];
