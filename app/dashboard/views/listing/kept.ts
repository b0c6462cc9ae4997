/** The draft of a new listing as this browser keeps it over a reload. It holds no key. */
import { useState } from 'react';
import { type Draft, newDraft } from './draft.ts';

const NAME = 'listing-draft';

interface Kept {
  draft: Draft;
  /** Which step was open. */
  step: number;
  /** The public half of the key that the draft was given. */
  signing_key: string | null;
}

const fresh = (): Kept => ({ draft: newDraft(), step: 0, signing_key: null });

function read(): Kept {
  const empty = fresh();
  try {
    const { draft, step, signing_key } = JSON.parse(localStorage.getItem(NAME) ?? 'null') as Kept;
    return {
      // What an older page did not know is as in a new draft.
      draft: { ...empty.draft, ...draft },
      step: Number.isInteger(step) ? step : 0,
      signing_key: typeof signing_key === 'string' ? signing_key : null,
    };
  } catch {
    return empty;
  }
}

export const isDraftKept = (): boolean => localStorage.getItem(NAME) !== null;

/** What is kept, and how it is changed. An untouched draft is not kept. */
export function useKept() {
  const [kept, setKept] = useState(read);
  const [isTouched, setTouched] = useState(isDraftKept);

  /** At once, so that no reload is too soon. A browser that keeps nothing only loses the reload. */
  function keep(next: Kept) {
    setKept(next);
    setTouched(true);
    try {
      localStorage.setItem(NAME, JSON.stringify(next));
    } catch {
      // Its storage is full or forbidden.
    }
  }
  return {
    ...kept,
    isTouched,
    change: (part: Partial<Draft>) => keep({ ...kept, draft: { ...kept.draft, ...part } }),
    go: (step: number) => (isTouched ? keep({ ...kept, step }) : setKept({ ...kept, step })),
    nameKey: (signing_key: string | null) => keep({ ...kept, signing_key }),
    /** It is listed: the next one begins empty. */
    forget() {
      localStorage.removeItem(NAME);
      setTouched(false);
    },
    startOver() {
      localStorage.removeItem(NAME);
      setTouched(false);
      setKept(fresh());
    },
  };
}
