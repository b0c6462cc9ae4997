/** A field for the id of a call. */
import { useState } from 'react';
import { EXECUTION_ID } from '../../sdk/wire/choices.ts';
import { Input } from './ui.tsx';

/** Finds as soon as the id is whole, for example pasted. */
export function FindCall({ onFind }: { onFind(executionId: string): void }) {
  const [text, setText] = useState('');
  return (
    <Input
      type="search"
      label="Find by call ID"
      placeholder="Paste the full ID"
      spellCheck={false}
      value={text}
      error={text === '' ? null : 'Enter the full ID of a call.'}
      onChange={({ target }) => {
        setText(target.value);
        const id = target.value.trim();
        if (EXECUTION_ID.test(id)) onFind(id);
      }}
    />
  );
}
