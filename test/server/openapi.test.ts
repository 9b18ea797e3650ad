/** The API description matches the endpoints and types. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeApi } from '../../src/server/openapi/describe.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const load = async <T>(path: string): Promise<T> => (await import(join(ROOT, path))) as T

test('the schemas match the types', async () => {
  const { apiShapes } = await load<{ apiShapes(): object }>('tools/api-shapes.mjs')
  const written = JSON.parse(readFileSync(join(ROOT, 'src/server/openapi/shapes.json'), 'utf8')) as object
  expect(written, 'run npm run api-docs').toEqual(JSON.parse(JSON.stringify(apiShapes())))
})

test('docs/api.md matches the OpenAPI document', async () => {
  const { apiMarkdown } = await load<{ apiMarkdown(document: object): string }>('tools/api-markdown.mjs')
  expect(readFileSync(join(ROOT, 'docs/api.md'), 'utf8'), 'run npm run api-docs').toBe(apiMarkdown(describeApi()))
})

test('is OpenAPI 3.1, refers only to existing schemas, and has every endpoint', () => {
  const document = describeApi('1.0.0')
  expect(document.openapi).toBe('3.1.0')
  const text = JSON.stringify(document)
  const named = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? '')
  expect(named.filter((name) => !(name in document.components.schemas))).toEqual([])
  expect(Object.keys(document.paths).length).toBeGreaterThan(20)
})
