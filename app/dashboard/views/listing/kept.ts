/** Stores the draft of a new listing in this browser, for a reload. It contains no secret key. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Draft, draftOf, newDraft } from './draft.ts';
import { ownListingsQuery } from './own.ts';

const NAME = 'listing-draft';
const LISTING_ID = /^[0-9a-f]{32}$/;

interface Kept {
  draft: Draft;
  /** The open step. */
  step: number;
  /** The public half of the draft's key. */
  signing_key: string | null;
}

/** The creator's name on their newest agent that has one. */
function useKnownName(): string {
  const { data } = useQuery({ ...ownListingsQuery, refetchInterval: false });
  return data?.listings.map((listing) => draftOf(listing).display_name).find((name) => name !== '') ?? '';
}

const fresh = (): Kept => ({ draft: newDraft(), step: 0, signing_key: null });

function read(): Kept {
  const empty = fresh();
  try {
    const { draft, step, signing_key } = JSON.parse(localStorage.getItem(NAME) ?? 'null') as Kept;
    // Fields that an older version of the page did not store get the values of a new draft.
    const known = { ...empty.draft, ...draft };
    return {
      draft: LISTING_ID.test(known.listing_id) ? known : { ...known, listing_id: empty.draft.listing_id },
      step: Number.isInteger(step) ? step : 0,
      signing_key: typeof signing_key === 'string' ? signing_key : null,
    };
  } catch {
    return empty;
  }
}

export const isDraftKept = (): boolean => localStorage.getItem(NAME) !== null;

/** The stored draft and functions to change it. An untouched draft is not stored. */
export function useKept() {
  const [last, setKept] = useState(read);
  const [isTouched, setTouched] = useState(isDraftKept);
  const name = useKnownName();
  const kept = isTouched ? last : { ...last, draft: { ...last.draft, display_name: name } };

  /** Writes at once, before any reload. Without storage, a reload loses the draft. */
  function keep(next: Kept) {
    setKept(next);
    setTouched(true);
    try {
      localStorage.setItem(NAME, JSON.stringify(next));
    } catch {
      // The storage is full or forbidden.
    }
  }
  return {
    ...kept,
    isTouched,
    change: (part: Partial<Draft>) => keep({ ...kept, draft: { ...kept.draft, ...part } }),
    go: (step: number) => (isTouched ? keep({ ...kept, step }) : setKept({ ...kept, step })),
    nameKey: (signing_key: string | null) => keep({ ...kept, signing_key }),
    /** The next draft starts empty. */
    startOver() {
      localStorage.removeItem(NAME);
      setTouched(false);
      setKept(fresh());
    },
  };
}
