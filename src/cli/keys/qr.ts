/** A QR code as text for a terminal. */
import encodeQR from 'qr';

/** Modules of light around the code: readers need it to find the code (ISO/IEC 18004). */
const BORDER = 4;
/** Bright white, because white is grey on many terminals. */
const BLACK_ON_WHITE = '\x1b[30;107m';
const RESET = '\x1b[0m\n';

/**
 * Returns lines with dark modules on a light ground. `hasColours`: by escape sequences, whatever the colours of the terminal
 * are; otherwise blanks stand for dark, as most terminals are. `hasUnicode`: a character is one module wide and two high,
 * otherwise two characters are a module.
 */
export function paintQr(
  text: string,
  { hasColours, hasUnicode }: { readonly hasColours: boolean; readonly hasUnicode: boolean },
): string {
  const rows = encodeQR(text, 'raw', { ecc: 'low', border: BORDER });
  const columns = [...(rows[0] ?? []).keys()];
  const isDark = (y: number, x: number) => rows[y]?.[x] === true;
  if (!hasUnicode) {
    const [dark, light] = hasColours ? ['\x1b[40m  ', '\x1b[107m  '] : ['  ', '@@'];
    return rows
      .map((_, y) => columns.map((x) => (isDark(y, x) ? dark : light)).join('') + (hasColours ? RESET : '\n'))
      .join('');
  }
  return Array.from({ length: Math.ceil(rows.length / 2) }, (_, line) => {
    const glyphs = columns.map((x) => {
      const [upper, lower] = [isDark(2 * line, x) === hasColours, isDark(2 * line + 1, x) === hasColours];
      if (upper) return lower ? '█' : '▀';
      return lower ? '▄' : ' ';
    });
    return hasColours ? `${BLACK_ON_WHITE}${glyphs.join('')}${RESET}` : `${glyphs.join('')}\n`;
  }).join('');
}
