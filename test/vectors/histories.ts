/** Vectors of the invariants, some with histories in run-length encoding. */

import { historyEntry, userMessage } from '../../src/conversation/codec/entry.ts'
import { Entries } from '../../src/conversation/entries.ts'
import type { UserEnvContext, UserMessage } from '../../src/conversation/message.ts'
import { newPrompt, newResponse, newToolUse, newToolUseResults } from '../../src/conversation/new-message.ts'
import type { HistoryEntry } from '../../src/conversation/record.ts'
import { enforceConversationInvariants } from '../../src/conversation/request.ts'
import type { JsonValue } from '../../src/lib/json/lossless.ts'
import { lowered, strictly, toolsNamed } from './functions.ts'
import { at, expectSame, items, number, text, type Vector, type Verdict } from './vector.ts'

/** The environment of the recording. */
const ENV: UserEnvContext = {
  env_state: { operating_system: 'macos', current_working_directory: '/Users/alice/proj', environment_variables: [] },
}

export const historyChecks: readonly (readonly [fn: RegExp, check: (vector: Vector) => Verdict])[] = [
  [
    /^enforce_conversation_invariants$/,
    ({ input, output }) => {
      const history = Entries.over(items(at(input, 'history')).map((entry) => strictly(historyEntry, entry)))
      const done = enforceConversationInvariants(history, nextOf(input), toolsNamed(at(input, 'tool_names')), ENV)
      const given = {
        valid_history_range: done.range,
        history: done.history.toArray().map((entry) => lowered(historyEntry, entry)),
        next_message: loweredNext(done.next),
      }
      return expectSame(given, output)
    },
  ],
  [
    /^enforce_conversation_invariants\(run-length\)$/,
    ({ input, output }) => {
      const history = Entries.over(
        items(at(input, 'pattern')).flatMap((run) => {
          const [letter = null, count = null] = items(run)
          return Array.from({ length: number(count) }, () => entryOf(text(letter)))
        }),
      )
      const done = enforceConversationInvariants(history, nextOf(input), toolsNamed([]), ENV)
      const given = {
        valid_history_range: done.range,
        history_len_after: done.history.length,
        next_message: loweredNext(done.next),
      }
      return expectSame(given, output)
    },
  ],
]

function nextOf(input: JsonValue): UserMessage | null {
  const next = at(input, 'next_message')
  return next === null ? null : strictly(userMessage, next)
}

function loweredNext(next: UserMessage | null): JsonValue {
  return next && lowered(userMessage, next)
}

/** P = prompt and response, Q = prompt and tool use, T = results and tool use, R = results and response. */
function entryOf(letter: string): HistoryEntry {
  const result = { tool_use_id: 'a', content: [{ Text: 'out' }], status: 'Success' }
  const user = letter === 'P' || letter === 'Q' ? newPrompt('p', null, ENV) : newToolUseResults([result], ENV)
  const use = { id: 'a', name: 'fs_read', orig_name: 'fs_read', args: {}, orig_args: {} }
  const assistant = letter === 'P' || letter === 'R' ? newResponse(null, 'r') : newToolUse(null, '', [use])
  return { user, assistant, request_metadata: null }
}
