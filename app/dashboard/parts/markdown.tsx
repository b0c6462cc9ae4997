/**
 * Markdown of strangers: no HTML, no images, and links without a referrer. Large, so it is loaded on use: `lazy(() =>
 * import('.../markdown.tsx'))`.
 */
import ReactMarkdown, { type Components } from 'react-markdown';
import rehypeSanitize from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { Anchor } from './links.tsx';

const COMPONENTS: Components = {
  a: ({ href, children }) => (
    <Anchor href={href} target="_blank" rel="noreferrer nofollow">
      {children}
    </Anchor>
  ),
  // Loading an image would reveal the reader to its server.
  img: ({ alt }) => <span className="text-faint">[picture{alt ? `: ${alt}` : ''}]</span>,
  h1: ({ children }) => <h3 className="text-lg font-semibold">{children}</h3>,
  h2: ({ children }) => <h4 className="font-semibold">{children}</h4>,
  h3: ({ children }) => <h5 className="font-semibold">{children}</h5>,
  ul: ({ children }) => <ul className="list-disc space-y-1 pl-5">{children}</ul>,
  ol: ({ children }) => <ol className="list-decimal space-y-1 pl-5">{children}</ol>,
  blockquote: ({ children }) => <blockquote className="border-l-2 border-line pl-4 text-faint">{children}</blockquote>,
  pre: ({ children }) => <pre className="overflow-x-auto rounded-lg bg-sunken p-4">{children}</pre>,
  code: ({ children }) => <code className="font-mono text-[0.8125rem]">{children}</code>,
  table: ({ children }) => (
    <div className="overflow-x-auto">
      <table className="text-left text-sm [&_td]:border-t [&_td]:border-line [&_td]:px-3 [&_td]:py-1.5 [&_th]:px-3 [&_th]:py-1.5">
        {children}
      </table>
    </div>
  ),
};

export default function Markdown({ text }: { text: string }) {
  return (
    <div className="prose grid min-w-0 gap-3 text-sm leading-relaxed">
      <ReactMarkdown remarkPlugins={[remarkGfm]} rehypePlugins={[rehypeSanitize]} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  );
}
