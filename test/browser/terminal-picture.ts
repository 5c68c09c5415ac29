/** A picture of a terminal's text, as `tmux capture-pane -e -N` has it: in a monospace font, with its colours. */
import type { Browser } from 'playwright-core';

/** Select Graphic Rendition: the colours of a QR code, as most terminals show them. */
const FOREGROUNDS: Readonly<Record<string, string>> = { '30': '#000', '39': '', '97': '#fff' };
const BACKGROUNDS: Readonly<Record<string, string>> = { '40': '#000', '49': '', '107': '#fff' };

interface Style {
  color: string;
  background: string;
}

const SPECIAL: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string) => text.replace(/[&<>]/g, (sign) => SPECIAL[sign] ?? '');

/** Throws for a sequence that no rule here is for: the picture would show something else than a terminal. */
function restyle(style: Style, codes: readonly string[]): void {
  for (const code of codes) {
    if (code === '' || code === '0') Object.assign(style, { color: '', background: '' });
    else if (code in FOREGROUNDS) style.color = FOREGROUNDS[code] ?? '';
    else if (code in BACKGROUNDS) style.background = BACKGROUNDS[code] ?? '';
    else throw new Error(`unexpected SGR ${code}`);
  }
}

function htmlOf(text: string): string {
  const [first = '', ...others] = text.split('\x1b[');
  const style: Style = { color: '', background: '' };
  const spans = others.map((part) => {
    const [, codes, shown = ''] = /^([\d;]*)m([\s\S]*)$/.exec(part) ?? [];
    if (codes === undefined) throw new Error(`unexpected sequence ${JSON.stringify(part)}`);
    restyle(style, codes.split(';'));
    return `<span style="color:${style.color};background:${style.background}">${escaped(shown)}</span>`;
  });
  return escaped(first) + spans.join('');
}

/** A PNG of `text`, white on black unless it has colours. `blurPx`: as of a camera that is out of focus. */
export async function pictureOf(browser: Browser, text: string, blurPx = 0): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1400 } });
  try {
    await page.setContent(
      `<body style="margin:16px;background:#000;color:#ccc"><pre style="margin:0;display:inline-block;font:16px 'DejaVu Sans Mono',monospace;line-height:normal;filter:blur(${blurPx}px)">${htmlOf(text)}</pre>`,
    );
    return await page.locator('pre').screenshot();
  } finally {
    await page.close();
  }
}
