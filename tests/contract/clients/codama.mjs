/** Generates a client for @solana/kit from an IDL, with Codama's defaults: `node codama.mjs IDL FOLDER`. */
import { readFileSync } from 'node:fs';
import { rootNodeFromAnchor } from '@codama/nodes-from-anchor';
import { renderVisitor } from '@codama/renderers-js';
import { visit } from '@codama/visitors-core';

const [idl, folder] = process.argv.slice(2);
await visit(rootNodeFromAnchor(JSON.parse(readFileSync(idl, 'utf8'))), renderVisitor(folder));
