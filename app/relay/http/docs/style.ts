/** How the pages look, and what a browser may do with them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const STYLE = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8');

/** Nothing but the page and its own style: no script, no frame, no form, nothing from anywhere else. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
