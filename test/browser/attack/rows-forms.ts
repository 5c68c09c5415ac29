/** Attacks that need no script API: forms, links, reports. */
import type { Row } from './row.ts';
import { form, page, SUBMIT } from './scripts.ts';

/** The power commands ignore their body, so a form of any type reaches them; the others want JSON. */
const BY_FORM = { from: 'foreign', does: 'act', targets: ['power'] } as const;

/** A document as text, for frames that are made out of text. */
const submitting = (html: string) => `<!doctype html><body>${html}<script>${SUBMIT}</script>`;

const redirect = (to: string, status: number) => `/redirect?status=${status}&to=${encodeURIComponent(to)}`;

export const FORM_ROWS: readonly Row[] = [
  {
    ...BY_FORM,
    id: 'form',
    method: 'a form that submits itself',
    stage: (aim, around) => ({ page: page(aim, around, SUBMIT, form(aim)) }),
  },
  {
    ...BY_FORM,
    id: 'form-multipart',
    method: 'a form with `enctype=multipart/form-data`',
    stage: (aim, around) => ({
      page: page(aim, around, SUBMIT, form(aim, { enctype: 'multipart/form-data' })),
    }),
  },
  {
    ...BY_FORM,
    id: 'form-json-text',
    method: 'a form with `enctype=text/plain` whose one field spells JSON',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        SUBMIT,
        form(aim, { enctype: 'text/plain', fields: `<input name='{"action":"pause","a":"' value='"}'>` }),
      ),
    }),
  },
  {
    ...BY_FORM,
    id: 'form-hidden-frame',
    method: 'a form whose target is a hidden frame: the visitor sees nothing',
    stage: (aim, around) => ({
      page: page(aim, around, SUBMIT, `<iframe name="f" hidden></iframe>${form(aim, { target: 'f' })}`),
    }),
  },
  {
    ...BY_FORM,
    id: 'form-new-window',
    method: 'a form whose target is a new window, submitted by a click',
    isClicked: true,
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        '',
        form(aim, { target: '_blank', fields: '<button id="go">Win a prize</button>' }),
      ),
    }),
  },
  {
    ...BY_FORM,
    id: 'form-no-referrer',
    method: 'a form on a page with `Referrer-Policy: no-referrer`: the browser then sends `Origin: null`',
    stage: (aim, around) => ({
      page: { ...page(aim, around, SUBMIT, form(aim)), headers: { 'Referrer-Policy': 'no-referrer' } },
    }),
  },
  {
    ...BY_FORM,
    id: 'form-sandbox',
    method: 'a form in a sandboxed frame (origin `null`)',
    stage: (aim, around) => ({
      page: page(aim, around, '', '<iframe sandbox="allow-scripts allow-forms" src="frame"></iframe>'),
      frame: page(aim, around, SUBMIT, form(aim)),
    }),
  },
  {
    ...BY_FORM,
    id: 'form-data-url',
    method: 'a form in a frame whose document is a `data:` URL (origin `null`)',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        '',
        `<iframe src="data:text/html,${encodeURIComponent(submitting(form(aim)))}"></iframe>`,
      ),
    }),
  },
  {
    ...BY_FORM,
    id: 'form-blob-url',
    method: 'a form in a frame whose document is a `blob:` URL',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        `const html = ${JSON.stringify(submitting(form(aim))).replaceAll('</', '<\\/')};
         const frame = document.createElement('iframe');
         frame.src = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
         document.body.append(frame);`,
      ),
    }),
  },
  {
    ...BY_FORM,
    id: 'form-redirect',
    method: "a form to the attacker's own server, which redirects it with 307: method and body are kept",
    stage: (aim, around) => ({
      page: page(aim, around, SUBMIT, form(aim, { action: redirect(`${aim.service}${aim.path}`, 307) })),
    }),
  },
  {
    ...BY_FORM,
    id: 'form-image-button',
    method: 'a form whose image is clicked, with `formaction` instead of `action`',
    isClicked: true,
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        '',
        form(aim, {
          action: '/nowhere',
          fields: `<input type="image" alt="x" id="go" width="40" height="40" formaction="${aim.service}${aim.path}">`,
        }),
      ),
    }),
  },
  {
    ...BY_FORM,
    id: 'form-neighbour',
    from: 'neighbour',
    method: "a form from another port of the service's own host: the same site, another origin",
    stage: (aim, around) => ({ page: page(aim, around, SUBMIT, form(aim)) }),
  },
  {
    ...BY_FORM,
    id: 'link-ping',
    method: 'a link with a `ping` attribute, clicked: the browser posts to it during the navigation',
    isClicked: true,
    // Firefox has it switched off.
    only: 'chromium',
    stage: (aim, around) => ({
      page: page(aim, around, '', `<a id="go" href="#there" ping="${aim.service}${aim.path}">News</a>`),
    }),
  },
  {
    ...BY_FORM,
    id: 'csp-report',
    method: 'a Content-Security-Policy whose violation the browser reports (`report-uri`) to the service',
    stage: (aim, around) => ({
      page: {
        ...page(aim, around, '', '<img src="/x" alt="">'),
        headers: { 'Content-Security-Policy': `img-src 'none'; report-uri ${aim.service}${aim.path}` },
      },
    }),
  },
];
