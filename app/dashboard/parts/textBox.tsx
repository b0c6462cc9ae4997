/** A text of any length as it was sent, in a box that scrolls. */
export function TextBox({ label, text }: { label: string; text: string }) {
  return (
    <section
      tabIndex={0}
      aria-label={label}
      className="max-h-96 overflow-auto rounded-xl border border-line bg-sunken px-4 py-3"
    >
      <pre className="font-mono text-[0.8125rem] whitespace-pre-wrap">{text}</pre>
    </section>
  );
}
