/** The reference in /docs, made from the OpenAPI document: every route with its code, parameters, answers and errors. */
import { ERRORS, type ErrorCode } from '../../../sdk/wire/wire.ts';
import type { OpenApi, Operation } from '../openapi/document.ts';
import type { Json } from '../openapi/schemas.ts';
import { SCOPE_OF } from '../routes/route.ts';
import { type RouteId, routeOf } from '../routes/table.ts';
import { codeChoice, escapeHtml, inline } from './html.ts';
import { type Language, snippetsOf } from './snippets.ts';

/** All routes by tag, then the schemas that they use. */
export function reference(document: OpenApi): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const groups = document.tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    const routes = own.map(({ path, method, operation }) =>
      route(method, path, operation, snippetsOf(document.servers[0]!.url, path, method, operation)),
    );
    return `<h3 id="tag-${name}">${escapeHtml(name)}</h3>\n<p>${escapeHtml(description)}</p>\n${routes.join('\n')}`;
  });
  const schemas = Object.entries(document.components.schemas)
    .filter(([name]) => !name.startsWith('error_'))
    .map(
      ([name, schema]) =>
        `<details id="schema-${name}"><summary><code>${name}</code></summary>${fields(schema)}</details>`,
    );
  return `${groups.join('\n')}\n<h3 id="schemas">Schemas</h3>\n${schemas.join('\n')}`;
}

function route(method: string, path: string, operation: Operation, snippets: [Language, string][]): string {
  const { operationId, summary, description, security, parameters, requestBody, responses } = operation;
  const key =
    security.length === 0
      ? 'Needs no API key.'
      : `Needs an API key${scopeWords(operationId as RouteId)}${security.some((way) => Object.keys(way).length === 0) ? ', or a signature' : ''}.`;
  const parts = [
    `<p>${inline(description)}</p>`,
    codeChoice(operationId, snippets),
    parameters.length > 0
      ? table('Parameters', ['Name', 'Where', 'Type', 'Meaning'], parameters.map(parameterRow))
      : '',
    requestBody ? `<h4>Body</h4><p>${inline(requestBody.description)}</p>${content(requestBody.content)}` : '',
    ...Object.entries(responses).map(([status, response]) => answer(status, response)),
  ];
  return `<details id="${operationId}"><summary><code class="path"><b>${method.toUpperCase()}</b> ${withBreaks(escapeHtml(path))}</code><br>
${escapeHtml(summary)}. <span class="faint">${key}</span></summary>
${parts.filter(Boolean).join('\n')}
</details>`;
}

/** A path that may break after each slash but the first. */
const withBreaks = (path: string): string => path.replace(/(?!^)\//g, '/<wbr>');

/** The scope that a key needs, which the document does not have. */
function scopeWords(id: RouteId): string {
  const scope = SCOPE_OF[routeOf(id).access];
  return scope ? ` with the scope <code>${scope}</code>` : '';
}

function parameterRow({ name, in: place, required, description, schema }: Operation['parameters'][number]): string {
  const kind = `${place}${required ? '' : ', optional'}`;
  return `<tr><td><code>${escapeHtml(name)}</code></td><td>${kind}</td><td>${typeOf(schema)}</td><td>${inline(description)}</td></tr>`;
}

/** Shows a success in full, and errors only as codes, because the table above explains them. */
function answer(status: string, { description, content: body, headers }: Operation['responses'][string]): string {
  const names = Object.keys(body?.['application/json']?.examples ?? {});
  const codes = names.filter((name): name is ErrorCode => name in ERRORS);
  const sent = Object.keys(headers).map((name) => `<code>${name}</code>`);
  if (codes.length > 0 && codes.length === names.length) {
    const links = codes.map((code) => `<a href="#error-${code}"><code>${code}</code></a>`);
    return `<p><strong>${status}</strong> ${links.join(', ')}</p>`;
  }
  return `<h4>${status}</h4><p>${inline(description.split('\n')[0] ?? '')} <span class="faint">Headers: ${sent.join(', ')}</span></p>${body ? content(body) : ''}`;
}

function content(body: NonNullable<Operation['requestBody']>['content']): string {
  return Object.entries(body)
    .map(([type, { schema, examples }]) => {
      const shown = Object.entries(examples).filter(([name]) => !(name in ERRORS));
      const blocks = shown.map(([, { value }]) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
        return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`;
      });
      return `<p><code>${type}</code>: ${typeOf(schema)}</p>${blocks.join('\n')}`;
    })
    .join('\n');
}

/** The fields of an object; nested ones with their path. */
function fields(schema: Json): string {
  const rows: string[] = [];
  const visit = (inner: Json, path: string): void => {
    const required = (inner.required ?? []) as string[];
    for (const [name, field] of Object.entries((inner.properties ?? {}) as Record<string, Json>)) {
      const optional = required.includes(name) ? '' : ', optional';
      const meaning = inline(String(field.description ?? ''));
      rows.push(
        `<tr><td><code>${path}${escapeHtml(name)}</code></td><td>${typeOf(field)}${optional}</td><td>${meaning}</td></tr>`,
      );
      visit(field, `${path}${name}.`);
      const items = field.items as Json | undefined;
      if (items) visit(items, `${path}${name}[].`);
      for (const option of (field.anyOf ?? []) as Json[]) visit(option, `${path}${name}.`);
    }
  };
  visit(schema, '');
  return table('Fields', ['Name', 'Type', 'Meaning'], rows);
}

function table(label: string, columns: string[], rows: string[]): string {
  const head = columns.map((name) => `<th scope="col">${name}</th>`).join('');
  return `<div class="wide" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${head}</tr></thead>
<tbody>${rows.join('\n')}</tbody>
</table></div>`;
}

/** A schema in a few words. */
function typeOf(schema: Json): string {
  const { $ref, type, enum: values, const: value, format, items } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.split('/').at(-1) ?? '';
    // Errors have their own table above.
    const target = name.startsWith('error_') ? name.replace('error_', 'error-') : `schema-${name}`;
    return `<a href="#${target}"><code>${name}</code></a>`;
  }
  const options = (schema.anyOf ?? schema.oneOf) as Json[] | undefined;
  if (options) return options.map(typeOf).join(' or ');
  if (value !== undefined) return `<code>${escapeHtml(JSON.stringify(value))}</code>`;
  if (Array.isArray(values) && type !== 'boolean')
    return values.map((one) => `<code>${escapeHtml(String(one))}</code>`).join(', ');
  if (type === 'array' && items) return `array of ${typeOf(items as Json)}`;
  const kind = [type ?? 'anything'].flat().join(' or ');
  return escapeHtml(format === undefined ? kind : `${kind} (${format})`);
}
