/** The icons on buttons. */
const PATHS = {
  play: 'M7 5v14l12-7z',
  pause: 'M7 5h3.5v14H7zM13.5 5H17v14h-3.5z',
  next: 'M6 5l9 7-9 7zM16 5h2.5v14H16z',
  prev: 'M18 5l-9 7 9 7zM5.500 5H8v14H5.500z',
  mute: 'M4 9h4l5-4v14l-5-4H4zM15.5 8.5a5 5 0 0 1 0 7l1.3 1.3a7 7 0 0 0 0-9.600z',
  unmute: 'M4 9h4l5-4v14l-5-4H4zM15 10l1.200-1.200 2 2 2-2L21.400 10l-2 2 2 2-1.200 1.200-2-2-2 2L15 14l2-2z',
  note: 'M9 18V6l10-2v11.500a2.500 2.500 0 1 1-1.600-2.330V7.600L10.600 9v9a2.500 2.500 0 1 1-1.600-2.300z',
} as const;

export function Glyph({ name }: { readonly name: keyof typeof PATHS }) {
  return (
    <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} fill="currentColor" />
    </svg>
  );
}
