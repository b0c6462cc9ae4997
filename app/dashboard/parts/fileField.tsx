/** A field for one file. */
import { Field, type FieldProps } from './ui.tsx';

export function FileField({
  label,
  hint,
  error,
  accept,
  onFile,
}: FieldProps & { accept?: string; onFile(file: File | undefined): unknown }) {
  return (
    <Field label={label} hint={hint} error={error ?? null}>
      {(props) => (
        <input
          type="file"
          accept={accept}
          className="w-full text-sm file:mr-3 file:min-h-10 file:cursor-pointer file:rounded-lg file:border file:border-solid file:border-line file:bg-raised file:px-4 file:font-medium"
          onChange={({ target }) => void onFile(target.files?.[0])}
          {...props}
        />
      )}
    </Field>
  );
}
