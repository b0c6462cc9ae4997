/** An agent's description for callers, its picture and the tags to find it by. */
import { type FocusEvent, type KeyboardEvent, useRef, useState } from 'react';
import { AgentMetadata, isStandardTag, MAX_CUSTOM_TAGS, STANDARD_TAGS } from '../../../sdk/wire/metadata.ts';
import { findPictureFault } from '../../../sdk/wire/picture.ts';
import { Avatar } from '../../parts/avatar.tsx';
import { CrossIcon } from '../../parts/icons.tsx';
import { limited } from '../../parts/reading.ts';
import { Badge, Button, cx, Field, Input, TextArea } from '../../parts/ui.tsx';
import type { Draft, DraftErrors } from './draft.ts';

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

export function DetailsFields({ draft, errors, onChange, agentId }: FieldsProps & { agentId: string | undefined }) {
  return (
    <div className="grid gap-6">
      <div className="grid items-start gap-6 sm:grid-cols-2">
        <Input
          label="Name"
          {...limited(draft.name, NAME_LENGTH, 'The name that callers see.', errors.name)}
          value={draft.name}
          onChange={({ target }) => onChange({ name: target.value })}
        />
        <Input
          label="Creator name"
          {...limited(
            draft.display_name,
            NAME_LENGTH,
            'Yours. Each agent has its own: a change here does not change your other agents.',
            errors.display_name,
          )}
          value={draft.display_name}
          autoComplete="organization"
          onChange={({ target }) => onChange({ display_name: target.value })}
        />
      </div>
      <Input
        label="Tagline"
        placeholder="Answers questions about a CSV file"
        {...limited(draft.tagline, TAGLINE_LENGTH, 'One sentence that says what it does.', errors.tagline)}
        value={draft.tagline}
        onChange={({ target }) => onChange({ tagline: target.value })}
      />
      <TextArea
        label="Description"
        {...limited(
          draft.description,
          DESCRIPTION_LENGTH,
          'Its input, its result, and what it refuses, in Markdown. In a dispute the admin compares your answer with it and with the tagline.',
          errors.description,
        )}
        rows={7}
        placeholder="Send a CSV file of up to 1 MB and a question. The result is one sentence with the figures. Other formats are refused."
        value={draft.description}
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
  const toggle = (tag: string) =>
    onChange({ tags: tags.includes(tag) ? tags.filter((other) => other !== tag) : [...tags, tag] });
  return (
    <div className="grid gap-5">
      <fieldset>
        <legend className="text-sm font-medium">Tags</legend>
        <p className="mt-1 text-sm text-faint">
          The program requires 1 to {MAX_STANDARD_TAGS} of these. If none fits, choose the nearest, and add your own
          below. {standard.length} chosen.
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
        {errors.tags && <p className="mt-1.5 text-sm text-bad">{errors.tags}</p>}
      </fieldset>
      <CustomTags tags={tags} onChange={(next) => onChange({ tags: next })} />
    </div>
  );
}

/** All that is wrong with these tags together; null if nothing is. */
function faultOf(tags: readonly string[]): string | null {
  const standard = tags.filter(isStandardTag);
  if (standard.length > MAX_STANDARD_TAGS) return `must be at most ${MAX_STANDARD_TAGS} of the tags above`;
  const { error } = AgentMetadata.shape.custom_tags.safeParse(tags.filter((tag) => !isStandardTag(tag)));
  return error ? error.issues[0]!.message : null;
}

/** A typed standard tag is chosen above. What is typed counts also without the button, once the field is left. */
function CustomTags({ tags, onChange }: { tags: string[]; onChange(tags: string[]): void }) {
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const custom = tags.filter((tag) => !isStandardTag(tag));
  function add() {
    const typed = text.toLowerCase().split(',');
    const next = [...new Set([...tags, ...typed.map((tag) => tag.trim()).filter(Boolean)])];
    const wrong = faultOf(next);
    setFault(wrong);
    if (wrong) return;
    onChange(next);
    setText('');
  }
  const onLeave = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (!currentTarget.parentElement?.contains(relatedTarget) && text.trim() !== '') add();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    if (text.trim() !== '') add();
  };
  return (
    <div className="grid gap-2.5">
      <Field
        label="Your own tags"
        hint={`Optional: up to ${MAX_CUSTOM_TAGS} more, such as spreadsheets. A comma separates two.`}
        error={fault}
      >
        {(props) => (
          <div className="flex gap-2">
            <input
              {...props}
              ref={field}
              className="min-h-10 w-full max-w-64 rounded-lg border border-strong bg-raised px-3 text-sm aria-invalid:border-bad"
              value={text}
              onChange={({ target }) => {
                setText(target.value);
                setFault(null);
              }}
              onKeyDown={onKey}
              onBlur={onLeave}
            />
            <Button
              disabled={text.trim() === ''}
              onBlur={onLeave}
              onClick={() => {
                add();
                field.current?.focus();
              }}
            >
              Add tag
            </Button>
          </div>
        )}
      </Field>
      {/* As high without tags: what is below must not move while it is clicked. */}
      <ul className="flex min-h-7 flex-wrap gap-2">
        {custom.map((tag) => (
          <li key={tag}>
            <Badge className="gap-2 py-1">
              {tag}
              <button
                type="button"
                className="hover:text-bad"
                onClick={() => {
                  onChange(tags.filter((other) => other !== tag));
                  field.current?.focus();
                }}
                aria-label={`Remove the tag ${tag}`}
              >
                <CrossIcon />
              </button>
            </Badge>
          </li>
        ))}
      </ul>
    </div>
  );
}

const ACCEPTED = 'image/png,image/jpeg,image/webp';
/** Pixels. Cards show it with 36. */
const SIDE = 192;
const QUALITIES = [0.9, 0.7, 0.5];

interface PictureFieldProps {
  /** The address that the picture without a file is made from. */
  address: string;
  picture: string;
  error: string | null;
  onChange(picture: string): void;
}

function PictureField({ address, picture, error, onChange }: PictureFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState<string | null>(null);
  async function take(file: File | undefined) {
    if (!file) return;
    const made = await shrink(file).catch(() => null);
    setFault(made ? null : 'is not a picture that this browser can read');
    if (made) onChange(made);
  }
  return (
    <Field
      label="Picture"
      hint="PNG, JPEG or WebP of any size, cropped to a square. Optional: without one, callers see this pattern."
      error={fault ?? error}
    >
      {(props) => (
        <div className="flex flex-wrap items-center gap-3">
          <Avatar address={address} picture={picture} className="size-14" />
          <input
            {...props}
            ref={input}
            type="file"
            accept={ACCEPTED}
            className="sr-only"
            tabIndex={-1}
            onChange={({ target }) => {
              void take(target.files?.[0]);
              // The same file can be chosen again.
              target.value = '';
            }}
          />
          <Button onClick={() => input.current?.click()}>{picture ? 'Choose another' : 'Choose a picture'}</Button>
          {picture && (
            <Button kind="quiet" onClick={() => onChange('')}>
              Remove it
            </Button>
          )}
        </div>
      )}
    </Field>
  );
}

/** The middle square of the picture as a data: URL; null if it cannot be made small enough. */
async function shrink(file: File): Promise<string | null> {
  const image = await createImageBitmap(file);
  const side = Math.min(image.width, image.height);
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = Math.min(SIDE, side);
  const [left, top] = [(image.width - side) / 2, (image.height - side) / 2];
  canvas.getContext('2d')?.drawImage(image, left, top, side, side, 0, 0, canvas.width, canvas.height);
  // A browser that cannot write WebP writes PNG instead.
  const tries = QUALITIES.flatMap((quality) =>
    ['image/webp', 'image/jpeg'].map((type) => canvas.toDataURL(type, quality)),
  );
  return tries.find((url) => findPictureFault(url) === null) ?? null;
}
