/** Writes the schemas of the API and docs/api.md. `npm run api-docs` builds before and after. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

if (process.argv[2] === 'shapes') {
  const { apiShapes } = await import('./api-shapes.mjs')
  writeFileSync(join(root, 'src/server/openapi/shapes.json'), `${JSON.stringify(apiShapes(), undefined, 1)}\n`)
} else {
  const { describeApi } = await import('../dist/server/openapi/describe.js')
  const { apiMarkdown } = await import('./api-markdown.mjs')
  writeFileSync(join(root, 'docs/api.md'), apiMarkdown(describeApi()))
}
