/** What became of an act, told where it was asked for. */
import { useState } from 'preact/hooks';
import { sentenceOf } from '../requests.ts';
import { TEXTS } from '../texts.ts';

export interface Notice {
  readonly text: string;
  readonly isProblem: boolean;
}

/** Runs acts one at a time, and keeps what to tell of the last one. */
export function useActs() {
  const [notice, tell] = useState<Notice>();
  const [isBusy, setBusy] = useState(false);
  /** `act` returns what to tell where it went well. True where it did. */
  const run = async (act: () => Promise<string | undefined>): Promise<boolean> => {
    setBusy(true);
    tell(undefined);
    try {
      const text = await act();
      if (text !== undefined) tell({ text, isProblem: false });
      return true;
    } catch (error) {
      tell({ text: sentenceOf(error), isProblem: true });
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { notice, isBusy, run, clear: () => tell(undefined) };
}

/** Always there, so that what comes into it is read out. */
export function NoticeLine({
  notice,
  onClear,
}: {
  readonly notice: Notice | undefined;
  readonly onClear: () => void;
}) {
  return (
    <div class="notice" role="status">
      {notice !== undefined && (
        <p class={notice.isProblem ? 'problem' : undefined}>
          {notice.text}{' '}
          <button type="button" class="quiet" onClick={onClear}>
            {TEXTS.dismiss}
          </button>
        </p>
      )}
    </div>
  );
}
