/** Renders the OpenAPI description as docs/api.md. */

const METHODS = ['get', 'post', 'put']

/** @param {object} document OpenAPI 3.1 */
export function apiMarkdown(document) {
  const parts = [
    '# HTTP API',
    '<!-- Made by npm run api-docs from the endpoints in src/server/routes and the types in src/model/api. -->',
    INTRODUCTION,
    '## Endpoints',
  ]
  for (const [path, item] of Object.entries(document.paths))
    for (const method of METHODS) if (item[method]) parts.push(endpoint(method, path, item[method]))
  parts.push('## Shapes')
  for (const [name, shape] of Object.entries(document.components.schemas)) parts.push(shapeText(name, shape))
  return `${parts.join('\n\n')}\n`
}

const INTRODUCTION = `This page describes the HTTP API of \`fumi serve\`, by default at \`http://localhost:4680\`. The same description as OpenAPI 3.1 is at \`/api/openapi.json\`.

\`\`\`sh
fumi token --header | curl -H @- 'http://localhost:4680/api/sessions?per_page=5'
\`\`\`

- **Authentication.** Send the token that \`fumi token\` prints as \`Authorization: Bearer …\`. Browsers have a cookie instead, which they get from a one-time link (\`fumi serve\`, \`fumi token --link\`). Only \`/api/health\` needs neither.
- **Replies** are JSON: \`{ "data": …, "meta": … }\`, or \`{ "errors": [{ "code", "status", "title", "detail", "meta" }] }\`. Times are UTC in ISO 8601.
- **Ids** of sessions and messages in addresses must be encoded with \`encodeURIComponent\`.
- **Limits.** No endpoint opens a file that a client names. Encrypted reasoning appears only as a hash and a length.`

function endpoint(method, path, { summary, description, parameters = [], requestBody, responses }) {
  const lines = [`### ${method.toUpperCase()} ${path}`, `${summary}.${description ? ` ${description}` : ''}`]
  const queryParameters = parameters.filter((one) => one.in === 'query')
  if (queryParameters.length > 0)
    lines.push(
      table(
        ['parameter', 'takes', 'what'],
        queryParameters.map(({ name, required, schema, description: what }) => [
          `\`${name}\`${required ? ' (needed)' : ''}`,
          typeText(schema),
          what ?? schema?.description ?? '',
        ]),
      ),
    )
  const body = requestBody?.content?.['application/json']?.schema
  if (body)
    lines.push(
      table(
        ['field of the body', 'takes', 'what'],
        Object.entries(body.properties ?? {}).map(([name, schema]) => [
          `\`${name}\``,
          typeText(schema),
          schema.description ?? '',
        ]),
      ),
    )
  const replies = Object.entries(responses).map(([status, response]) => {
    const [[type, { schema }] = ['', {}]] = Object.entries(response.content ?? {})
    const what = status.startsWith('2')
      ? schema?.$ref
        ? linkTo(schema.$ref)
        : `\`${type}\``
      : response.description
          .split(', ')
          .map((code) => `\`${code}\``)
          .join(', ')
    return `${status}: ${what}`
  })
  lines.push(`Replies: ${replies.join('; ')}.`)
  return lines.join('\n\n')
}

function shapeText(name, shape) {
  const lines = [`### ${name}`]
  if (shape.description) lines.push(shape.description)
  if (shape.properties) {
    const needed = new Set(shape.required)
    lines.push(
      table(
        ['field', 'is', 'what'],
        Object.entries(shape.properties).map(([field, inner]) => [
          `\`${field}\`${needed.has(field) ? '' : ' (optional)'}`,
          typeText(inner),
          inner.description ?? '',
        ]),
      ),
    )
  } else lines.push(typeText(shape))
  return lines.join('\n\n')
}

const linkTo = (ref) => {
  const name = ref.split('/').at(-1)
  return `[${name}](#${name.toLowerCase()})`
}

function typeText(schema = {}) {
  if (schema.$ref) return linkTo(schema.$ref)
  if (schema.enum) return schema.enum.map((one) => `\`${one}\``).join(', ')
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (schema.anyOf) return schema.anyOf.map(typeText).join(' or ')
  if (schema.type === 'array') return `list of ${typeText(schema.items)}`
  if (schema.type === 'object' && schema.properties)
    return `object of ${Object.keys(schema.properties)
      .map((key) => `\`${key}\``)
      .join(', ')}`
  if (schema.type === 'object' && schema.additionalProperties)
    return `object with values of ${typeText(schema.additionalProperties)}`
  if (schema.minimum !== undefined && schema.maximum !== undefined && schema.maximum < 1e9)
    return `${schema.minimum} to ${schema.maximum}`
  return Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'anything')
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;')

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')
