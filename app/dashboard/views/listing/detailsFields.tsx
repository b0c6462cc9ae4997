/** An agent's description for callers, and the tags to find it by. */
import { type KeyboardEvent, useState } from 'react';
import { AgentMetadata, isStandardTag, MAX_CUSTOM_TAGS, STANDARD_TAGS } from '../../../sdk/wire/metadata.ts';
import { Badge, Button, cx, Field, Input, TextArea } from '../../parts/ui.tsx';
import type { Draft, DraftErrors } from './draft.ts';
import { PictureField } from './pictureField.tsx';

export interface FieldsProps {
  draft: Draft;
  /** The errors to show. */
  errors: DraftErrors;
  onChange(part: Partial<Draft>): void;
}

const MAX_STANDARD_TAGS = 5;
/** The document's limits, as its schema checks them. */
const NAME_LENGTH = 64;
const TAGLINE_LENGTH = 140;
const DESCRIPTION_LENGTH = 8_000;

const count = (text: string, most: number): string => `${text.length} of ${most} characters`;

export function DetailsFields({ draft, errors, onChange, agentId }: FieldsProps & { agentId: string | undefined }) {
  return (
    <div className="grid gap-6">
      <div className="grid items-start gap-6 sm:grid-cols-2">
        <Input
          label="Name"
          hint="The name that callers see."
          value={draft.name}
          maxLength={NAME_LENGTH}
          error={errors.name ?? null}
          onChange={({ target }) => onChange({ name: target.value })}
        />
        <Input
          label="Your name"
          hint="Shown as the creator of all your agents."
          value={draft.display_name}
          maxLength={NAME_LENGTH}
          autoComplete="organization"
          error={errors.display_name ?? null}
          onChange={({ target }) => onChange({ display_name: target.value })}
        />
      </div>
      <Input
        label="Tagline"
        hint={`One sentence that says what it does. ${count(draft.tagline, TAGLINE_LENGTH)}.`}
        value={draft.tagline}
        maxLength={TAGLINE_LENGTH}
        error={errors.tagline ?? null}
        onChange={({ target }) => onChange({ tagline: target.value })}
      />
      <TextArea
        label="Description"
        hint={`Its input, its result, and what it refuses. Markdown is supported. ${count(draft.description, DESCRIPTION_LENGTH)}.`}
        rows={7}
        value={draft.description}
        maxLength={DESCRIPTION_LENGTH}
        error={errors.description ?? null}
        onChange={({ target }) => onChange({ description: target.value })}
      />
      <PictureField
        address={agentId ?? draft.listing_id}
        picture={draft.picture}
        error={errors.picture ?? null}
        onChange={(picture) => onChange({ picture })}
      />
      <Tags draft={draft} errors={errors} onChange={onChange} />
    </div>
  );
}

function Tags({ draft: { tags }, errors, onChange }: FieldsProps) {
  const standard = tags.filter(isStandardTag);
  const custom = tags.filter((tag) => !isStandardTag(tag));
  const toggle = (tag: string) =>
    onChange({ tags: tags.includes(tag) ? tags.filter((other) => other !== tag) : [...tags, tag] });
  return (
    <div className="grid gap-5">
      <fieldset>
        <legend className="text-sm font-medium">Tags</legend>
        <p className="mt-1 text-xs text-faint">
          Callers filter by tags. Choose 1 to {MAX_STANDARD_TAGS}; {standard.length} chosen.
        </p>
        <div className="mt-2.5 flex flex-wrap gap-2">
          {STANDARD_TAGS.map((tag) => {
            const isChosen = tags.includes(tag);
            return (
              <button
                key={tag}
                type="button"
                aria-pressed={isChosen}
                disabled={!isChosen && standard.length >= MAX_STANDARD_TAGS}
                onClick={() => toggle(tag)}
                className={cx(
                  'min-h-9 rounded-full border px-3.5 text-sm transition-colors disabled:cursor-not-allowed disabled:opacity-50',
                  isChosen ? 'border-accent bg-accent-soft text-accent' : 'border-line bg-raised hover:border-strong',
                )}
              >
                {tag}
              </button>
            );
          })}
        </div>
        {errors.tags && <p className="mt-1.5 text-xs text-bad">{errors.tags}</p>}
      </fieldset>
      <CustomTags custom={custom} onToggle={toggle} />
    </div>
  );
}

function CustomTags({ custom, onToggle }: { custom: string[]; onToggle(tag: string): void }) {
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  function add() {
    const tag = text.trim().toLowerCase();
    const { error } = AgentMetadata.shape.custom_tags.safeParse([...custom, tag]);
    setFault(error ? error.issues[0]!.message : null);
    if (error) return;
    onToggle(tag);
    setText('');
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ',') return;
    event.preventDefault();
    if (text.trim() !== '') add();
  };
  return (
    <div className="grid gap-2.5">
      <Field label="Your own tags" hint={`Up to ${MAX_CUSTOM_TAGS}, such as spreadsheets. Optional.`} error={fault}>
        {(props) => (
          <div className="flex gap-2">
            <input
              {...props}
              className="min-h-10 w-full max-w-64 rounded-lg border border-strong bg-raised px-3 text-sm aria-invalid:border-bad"
              value={text}
              onChange={({ target }) => {
                setText(target.value);
                setFault(null);
              }}
              onKeyDown={onKey}
            />
            <Button onClick={add} disabled={text.trim() === '' || custom.length >= MAX_CUSTOM_TAGS}>
              Add tag
            </Button>
          </div>
        )}
      </Field>
      {custom.length > 0 && (
        <ul className="flex flex-wrap gap-2">
          {custom.map((tag) => (
            <li key={tag}>
              <Badge className="gap-2 py-1">
                {tag}
                <button
                  type="button"
                  className="hover:text-bad"
                  onClick={() => onToggle(tag)}
                  aria-label={`Remove the tag ${tag}`}
                >
                  <span aria-hidden="true">✕</span>
                </button>
              </Badge>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
