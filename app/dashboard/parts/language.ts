/** The language of code, by how its lines begin. */

interface Language {
  /** The grammar that colours it. */
  grammar: string;
  title: string;
  begins: RegExp;
}

/** The first that fits counts. */
const LANGUAGES: Language[] = [
  { grammar: 'json', title: 'JSON', begins: /^\s*[{[]/ },
  {
    grammar: 'typescript',
    title: 'TypeScript',
    begins: /^(import .* from '|(export )?(const|function) |await |\w+\(\{$)/m,
  },
  { grammar: 'python', title: 'Python', begins: /^(import|from|def) \w/m },
  {
    grammar: 'bash',
    title: 'Shell',
    begins: /^(#|export|curl|npm|npx|node|pip|python3?|claude|openssl|printf|solana-keygen|[A-Z_]+=)(\s|\W)/m,
  },
];

export const languageOf = (text: string): Language | undefined => LANGUAGES.find(({ begins }) => begins.test(text));
