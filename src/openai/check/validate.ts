/** Finds what a server would reject in a list of messages, and repairs it. Both are the same walk, so they never disagree. */

import { type Fields, isObject, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { phrase } from '../../model/phrase.ts'
import { allTextOf } from '../content.ts'
import type { ChatMessage } from '../message.ts'
import { type Profile, type ProfileName, profileOf } from '../profile.ts'
import { legalToolName } from './legal-names.ts'
import { pairCalls } from './pair-calls.ts'
import { type CheckedEntry, OMITTED_PHRASE, type Problem, type ReportEntryProblem } from './problem.ts'
import { isEmptyMessage, shapeMessage } from './shape-message.ts'

export function dropEmptyMessages(
  entries: readonly CheckedEntry[],
  profile: Profile,
  report: ReportEntryProblem,
): readonly CheckedEntry[] {
  return entries.filter((entry) => {
    if (!isEmptyMessage(entry.message, profile)) return true
    const code = entry.message['content'] === '' ? 'content_empty' : 'content_missing'
    report(
      entry,
      '.content',
      code,
      phrase('A message has neither text nor tool calls.', 'メッセージに内容も呼び出しもありません。'),
      phrase('removes the message', 'メッセージを省く'),
    )
    return false
  })
}

/** Joins all instructions in one message at the beginning. */
export function joinSystemMessages(
  entries: readonly CheckedEntry[],
  profile: Profile,
  report: ReportEntryProblem,
): readonly CheckedEntry[] {
  const isSystem = ({ message }: CheckedEntry): boolean => message['role'] === 'system'
  const [first, ...more] = entries.filter(isSystem)
  if (profile.system === 'anywhere' || !first || (first === entries[0] && more.length === 0)) return entries
  for (const entry of first === entries[0] ? more : [first, ...more]) {
    const what = phrase(
      `${profile.label} accepts instructions only in one message at the start.`,
      `${profile.label} は、先頭の 1 メッセージにある指示だけを受け付けます。`,
    )
    report(entry, '', 'system_position', what, phrase('merges them into it', '先頭にまとめる'))
  }
  const content = [first, ...more].map(({ message }) => allTextOf(message['content'])).join('\n\n')
  const joined = more.length === 0 ? first : { ...first, message: { ...first.message, content } }
  return [joined, ...entries.filter((entry) => !isSystem(entry))]
}

/** Messages after the last answer have no effect on training. */
export function cutAfterLastAssistant(
  entries: readonly CheckedEntry[],
  profile: Profile,
  report: ReportEntryProblem,
): readonly CheckedEntry[] {
  if (!profile.endsWithAssistant) return entries
  const end = entries.findLastIndex(({ message }) => message['role'] === 'assistant') + 1
  for (const entry of entries.slice(end))
    report(
      entry,
      '',
      'end_not_assistant',
      phrase('A training example must end with an assistant message.', '学習例は assistant のメッセージで終わります。'),
      phrase('removes the message', 'メッセージを省く'),
    )
  return entries.slice(0, end)
}

/** The repaired messages, and what was repaired. */
export interface Repaired {
  /** Messages in which `validate` finds no problem. */
  readonly messages: readonly ChatMessage[]
  /** The repaired problems, in message order; empty if nothing changed. */
  readonly problems: readonly Problem[]
}

/**
 * Lists the problems for which the server would reject these messages.
 * @param messages OpenAIMessages, plain objects, or any values
 * @param profile name of a server, or your own profile
 *
 * @example
 * for (const { path, what, repair } of validate(messages, 'ollama')) console.log(`${path}: ${what} Repair: ${repair}.`)
 */
export function validate(messages: readonly unknown[], profile: ProfileName | Profile = 'openai'): readonly Problem[] {
  return repair(messages, profile).problems
}

/** Returns messages that the server accepts. Valid messages stay unchanged; a second repair changes nothing. */
export function repair(messages: readonly unknown[], profile: ProfileName | Profile = 'openai'): Repaired {
  const target = profileOf(profile)
  const found: { readonly at: number; readonly problem: Problem }[] = []
  const report: ReportEntryProblem = ({ at }, path, code, what, repairPhrase) => {
    const ja = { what: what.ja, repair: repairPhrase.ja }
    found.push({ at, problem: { path: `$[${at}]${path}`, code, what: what.en, repair: repairPhrase.en, ja } })
  }
  const shaped = messages.flatMap((message, at) => toCheckedEntries(message, at, target, report))
  const steps = [dropEmptyMessages, pairCalls, joinSystemMessages, cutAfterLastAssistant]
  const entries = steps.reduce<readonly CheckedEntry[]>((before, step) => step(before, target, report), shaped)
  return {
    messages: entries.map(({ message }) => message as unknown as ChatMessage),
    problems: found.sort((a, b) => a.at - b.at).map(({ problem }) => problem),
  }
}

function toCheckedEntries(
  given: unknown,
  at: number,
  profile: Profile,
  report: ReportEntryProblem,
): readonly CheckedEntry[] {
  const message = toPlainMessage(given)
  if (message) {
    const entry: CheckedEntry = { at, message }
    const shaped = shapeMessage(message, profile, `${at}`, (...rest) => report(entry, ...rest))
    const name = nonEmptyStringOf(message['name'])
    return [{ at, message: shaped, ...(name !== undefined && { tool: legalToolName(name, profile) }) }]
  }
  report(
    { at, message: {} },
    '',
    'not_a_message',
    phrase('This is not a message.', 'メッセージではありません。'),
    OMITTED_PHRASE,
  )
  return []
}

/** The JSON form of a value. */
function toPlainMessage(value: unknown): Fields | undefined {
  const plain = isObject(value) && typeof value['toJSON'] === 'function' ? (value['toJSON']() as unknown) : value
  return isObject(plain) ? plain : undefined
}
