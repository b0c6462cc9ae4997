/** The page and the command line use the terms of the guide. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript';
import { ROOT } from '../local/start.ts';

const FOLDERS = ['app/dashboard', 'app/cli', 'app/sdk/wallet'];
/**
 * Terms that must not be used; the standard ones are: gas balance, refundable deposit, refunded after a dispute, most
 * expensive, edit, 1 parameter, median.
 */
const RIDDLES =
  /\btanks?\b|\brents?\b(?!-)|\bdear(er|est)?\b|\bmend\b|with success|as it has to be|nothing but a shell|in the middle|\bwhat(so)?ever\b|\bwho(so)?ever\b|\bfor ever\b|\b1 (parameters|calls|keys)\b/i;

/** Texts of a source file: string literals, parts of templates, text between tags. */
function textsOf(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, false);
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node)) texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}

function textsIn(folder: string): string[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => /\.tsx?$/.test(file) && !/^(dist|node_modules)/.test(file));
  return sources.flatMap((file) => textsOf(join(ROOT, folder, file)));
}

describe('the words of the page and the command line', () => {
  for (const folder of FOLDERS) {
    it(`${folder} calls things by their usual names`, () => {
      const texts = textsIn(folder);
      expect(texts.length).to.be.above(100);
      expect(texts.filter((text) => RIDDLES.test(text))).to.deep.equal([]);
    });
  }

  it('the page has the apostrophe of print', () => {
    const straight = textsIn('app/dashboard').filter((text) => /[a-z]'(s|t|re|ll|ve|d)\b/i.test(text));
    expect(straight).to.deep.equal([]);
  });

  it('the page says call for what the API calls an execution', () => {
    const sentences = textsIn('app/dashboard').filter(
      (text) => /\bexecutions?\b/i.test(text) && /^[A-Z].* |[.:]$/.test(text),
    );
    expect(sentences).to.deep.equal([]);
  });

  it('so do the messages of the service, which the page shows', () => {
    const folders = ['access', 'calls', 'disputes', 'events', 'execution'].map((folder) => `app/relay/${folder}`);
    const messages = folders.flatMap(textsIn).filter((text) => /^[A-Z][a-z]* [a-z]/.test(text));
    expect(messages.length).to.be.above(100);
    expect(messages.filter((text) => /\bexecutions?\b/i.test(text))).to.deep.equal([]);
  });
});
