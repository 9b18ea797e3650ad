/** Builds the OpenAPI document: paths from the endpoints, schemas from the types of `model/api`. */
import { readFileSync } from 'node:fs'
import type { OpenAPIHono } from '@hono/zod-openapi'

export interface ApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly paths: object
  readonly components: { readonly schemas: { readonly [name: string]: object } }
}

export function buildApiDocument(app: OpenAPIHono, version: string): ApiDocument {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'fumibako',
      version,
      description:
        'Lists, searches, streams, measures and converts the sessions that AI coding agents leave on this machine, and runs chats.',
    },
    security: [{ token: [] }],
  })
  return {
    ...document,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'The token that fumi token prints.' } },
      schemas: findReachableSchemas(document.paths, readShapes()),
    },
  } as unknown as ApiDocument
}

/** Generated from the types by `npm run api-docs`. */
const readShapes = (): ApiDocument['components']['schemas'] =>
  JSON.parse(readFileSync(new URL('./shapes.json', import.meta.url), 'utf8')) as ApiDocument['components']['schemas']

/** Types that only streams contain: no path names them. */
const STREAMED = ['LiveEvent', 'SearchLine', 'ChatEvent']

function findReachableSchemas(
  paths: unknown,
  all: ApiDocument['components']['schemas'],
): ApiDocument['components']['schemas'] {
  const found = new Set<string>()
  const visit = (name: string): void => {
    if (found.has(name)) return
    found.add(name)
    for (const next of namesIn(all[name])) visit(next)
  }
  for (const name of [...namesIn(paths), ...STREAMED]) visit(name)
  return Object.fromEntries(Object.entries(all).filter(([name]) => found.has(name)))
}

const namesIn = (value: unknown): readonly string[] =>
  Array.from(JSON.stringify(value ?? {}).matchAll(/"#\/components\/schemas\/(\w+)"/g), ([, name = '']) => name)
