/** The style of the pages, and their browser policy. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const STYLE = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8');

/** Only the page and its own style: no scripts, frames, forms, or anything from elsewhere. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
