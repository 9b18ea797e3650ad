import { describe, expect, test } from 'vitest'
import { OpenAITool } from '../../src/openai.ts'

const parameters = { type: 'object', properties: { table: { type: 'string' } } }

describe('OpenAITool', () => {
  const loose = { name: 'count', description: 'Counts rows', parameters }
  const fields = { ...loose, strict: true }
  const body = { type: 'function', function: fields }

  test.each([
    ['flat', fields],
    ['as a request holds it', body],
    ['with strict at the root', { type: 'function', strict: true, function: loose }],
    ['wrapped', { tool: body }],
    ['wrapped and flat', { tool: fields }],
  ])('accepts fields that are %s', (_, given) => {
    const tool = new OpenAITool(given)
    expect([tool.type, tool.name, tool.description, tool.parameters, tool.strict]).toEqual([
      'function',
      'count',
      'Counts rows',
      parameters,
      true,
    ])
    expect(tool.body()).toEqual(body)
    expect(JSON.parse(JSON.stringify(tool))).toEqual(body)
  })

  test('writes only fields that are set', () => {
    expect(Object.keys(new OpenAITool({ name: 'now' }).body())).toEqual(['type', 'function'])
    expect(new OpenAITool({ name: 'now' }).body()).toStrictEqual({ type: 'function', function: { name: 'now' } })
  })

  test('can be custom', () => {
    const format = { type: 'grammar', grammar: { syntax: 'regex', definition: '[0-9]+' } }
    const custom = { type: 'custom', custom: { name: 'dial', description: 'Dials', format } }
    expect(new OpenAITool(custom).body()).toStrictEqual(custom)
    expect(new OpenAITool({ type: 'custom', name: 'dial', description: 'Dials', format }).body()).toStrictEqual(custom)
  })

  test('of another type passes unchanged', () => {
    const search = { type: 'web_search', search_context_size: 'low' }
    expect(new OpenAITool(search).body()).toStrictEqual(search)
  })
})
