/** Shows the result of an action beside its button. */
import { useState } from 'preact/hooks';
import { sentenceOf } from '../requests.ts';
import { TEXTS } from '../texts.ts';

interface Notice {
  readonly text: string;
  readonly isProblem: boolean;
}

/** Runs actions one at a time, and keeps the notice of the last one. */
export function useActs() {
  const [notice, setNotice] = useState<Notice>();
  const [isBusy, setBusy] = useState(false);
  /** `act` returns the text for success, if any. Resolves with whether it succeeded. */
  const run = async (act: () => Promise<string | undefined>): Promise<boolean> => {
    setBusy(true);
    setNotice(undefined);
    try {
      const text = await act();
      if (text !== undefined) setNotice({ text, isProblem: false });
      return true;
    } catch (error) {
      setNotice({ text: sentenceOf(error), isProblem: true });
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { notice, isBusy, run, clear: () => setNotice(undefined) };
}

/** Always present, so that screen readers announce its changes. */
export function NoticeLine({ of: { notice, clear } }: { readonly of: ReturnType<typeof useActs> }) {
  return (
    <div class="notice" role="status">
      {notice !== undefined && (
        <p class={notice.isProblem ? 'problem' : undefined}>
          {notice.text}{' '}
          <button type="button" class="quiet" onClick={clear}>
            {TEXTS.dismiss}
          </button>
        </p>
      )}
    </div>
  );
}
