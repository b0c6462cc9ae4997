/** Converts text and code to HTML. */

/** Text as HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** The text of what `escapeHtml` made. */
export function unescapeHtml(html: string): string {
  return html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

/** Text as HTML, with `code` for text between backticks. */
export function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** HTML whose blocks of one line have a frame with room for their copy button, which a script adds. */
export function withLines(html: string): string {
  return html.replace(
    /<pre(?:(?! data-language)[^>])*><code>[^\n<]*<\/code><\/pre>/g,
    '<div class="block line">$&</div>',
  );
}

/** HTML with typographic apostrophes, but not in its code. */
export function withApostrophes(html: string): string {
  return html.replace(/(<pre[\s\S]*?<\/pre>|<code>[\s\S]*?<\/code>|<[^>]*>)|'/g, (_, kept?: string) => kept ?? '’');
}

/**
 * Blocks of code with a choice of their language. Radio buttons choose the visible block, so no script is needed. `name`
 * is unique on the page. Blocks scroll sideways, so the keyboard must reach them.
 */
export function codeChoice(name: string, blocks: [language: string, text: string][]): string {
  const choices = blocks.map(([language], index) => {
    const chosen = index === 0 ? ' checked' : '';
    return `<label><input type="radio" name="code-${name}" value="${language}"${chosen}> ${language}</label>`;
  });
  const shown = blocks.map(
    ([language, text]) => `<pre tabindex="0" data-language="${language}"><code>${escapeHtml(text)}</code></pre>`,
  );
  return `<div class="code">
<div role="radiogroup" aria-label="Language">${choices.join('')}</div>
${shown.join('\n')}
</div>`;
}
