/** Parses all real histories completely. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  conversationTurns,
  convertToDisplayMessages,
  historyStatistics,
  isHistoryData,
  matchToolUses,
  readHistory,
  summarizeHistory,
} from '../../../src/amazon-q.ts'
import { readState } from '../../../src/conversation.ts'
import { sharedFolder } from '../../support/shared-material.ts'

describe.each([
  ['amazon-q', sharedFolder('corpus', 'amazon-q'), 'save-'],
  ['kiro', sharedFolder('corpus', 'kiro'), 'save-'],
  ['the original', sharedFolder('vectors', 'amazon-q'), 'state_'],
])('histories of %s', (_, folder, prefix) => {
  const files = folder
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
        (path) => path.endsWith('.json') && (path.split(/[\\/]/).at(-1) ?? '').startsWith(prefix),
      )
    : []

  test.skipIf(!folder).each(files.length > 0 ? files : ['none'])('%s', (path) => {
    const text = readFileSync(join(folder ?? '', path), 'utf8')
    const state: unknown = JSON.parse(text)
    if (!isHistoryData(state)) throw new Error('an entry is not understood')
    const { steps } = readHistory(state)
    const places = conversationTurns(state).flatMap((turn) => turn.steps.map(({ index }) => index))
    expect(places).toEqual([...state.history.keys()])
    expect(convertToDisplayMessages(state).length).toBeGreaterThanOrEqual(steps.length)
    expect(matchToolUses(state).uses.length).toBe(summarizeHistory(state).toolUses)
    const read = readState(text)
    expect(read.ok && summarizeHistory(read.value)).toEqual(summarizeHistory(state))
  })

  test.skipIf(files.length === 0)('together', () => {
    const states = files.map((path) => JSON.parse(readFileSync(join(folder ?? '', path), 'utf8')))
    const { conversations, empty, unreadable, patterns, entries } = historyStatistics(states)
    expect({ conversations, unreadable, broken: entries.unreadable }).toEqual({
      conversations: files.length,
      unreadable: 0,
      broken: 0,
    })
    expect(patterns.simple.count + patterns.single.count + patterns.complex.count + empty).toBe(files.length)
    expect(patterns.simple.percent + patterns.single.percent + patterns.complex.percent).toBe(100)
  })
})
