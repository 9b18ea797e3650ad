/** The API description matches the endpoints and types. */
import { readdirSync, readFileSync } from 'node:fs'
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

interface Described {
  readonly description?: string
}
interface Operation {
  readonly summary?: string
  readonly parameters?: readonly (Described & { readonly name: string; readonly in: string })[]
}

test('every endpoint, query parameter and field of the API is described', () => {
  const { paths, components } = describeApi('1.0.0')
  const operations = Object.entries(paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>).flatMap(
    ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ at: `${method} ${path}`, operation })),
  )
  expect(operations.filter(({ operation }) => !operation.summary).map(({ at }) => at)).toEqual([])
  const undescribed = operations.flatMap(({ at, operation }) =>
    (operation.parameters ?? [])
      .filter((one) => one.in === 'query' && !one.description)
      .map(({ name }) => `${at}: ${name}`),
  )
  expect(undescribed).toEqual([])
  const fields = API_TYPES.flatMap((name) => {
    const { properties = {} } = (components.schemas[name] ?? {}) as { properties?: Readonly<Record<string, Described>> }
    return Object.entries(properties).flatMap(([field, { description }]) => (description ? [] : [`${name}.${field}`]))
  })
  expect(fields).toEqual([])
})

/** The types that `model/api` itself declares. Others, such as NormalizedMessage, are specified elsewhere. */
const API_TYPES = readdirSync(join(ROOT, 'src/model/api')).flatMap((file) =>
  Array.from(
    readFileSync(join(ROOT, 'src/model/api', file), 'utf8').matchAll(/^export interface (\w+) \{/gm),
    ([, name = '']) => name,
  ),
)
