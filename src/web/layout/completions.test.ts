import { expect, test } from 'vitest'
import type { Choices } from '../../model/api/machine.ts'
import { completionsOf, wordAt } from './completions.ts'

const choices: Choices = {
  agents: [
    { value: 'codex', count: 12 },
    { value: 'claude-code', count: 3 },
  ],
  projects: [{ value: '/home/aki/my kettle', count: 4 }],
  models: [],
  tools: [],
  tags: [],
}
const texts = (word: string) => completionsOf(word, choices).map(({ text }) => text)

test('the beginning of a filter is completed, other words are not', () => {
  expect(texts('to')).toEqual(['tool:'])
  expect(texts('-ag')).toEqual(['-agent:'])
  expect(texts('a')).toEqual([])
  expect(texts('kettle')).toEqual([])
  expect(texts('https://agent')).toEqual([])
})

test('values of a filter are completed, with quotation marks where they are needed', () => {
  expect(texts('agent:c')).toEqual(['agent:codex ', 'agent:claude-code '])
  expect(texts('agent:CLAU')).toEqual(['agent:claude-code '])
  expect(texts('project:"my k')).toEqual(['project:"/home/aki/my kettle" '])
  expect(texts('has:')).toEqual(['has:error ', 'has:image '])
  expect(texts('agent:codex')).toEqual([])
  expect(completionsOf('agent:', undefined)).toEqual([])
})

test('the word at the caret is found inside a query', () => {
  expect(wordAt('sync tool:sh test', 12)).toEqual({ start: 5, word: 'tool:sh' })
  expect(wordAt('(tool:"a b', 10)).toEqual({ start: 1, word: 'tool:"a b' })
  expect(wordAt('sync ', 5)).toEqual({ start: 5, word: '' })
})
