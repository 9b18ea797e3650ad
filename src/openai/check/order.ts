/** Brings messages into an order that a server takes. */

import { phrase } from '../../model/phrase.ts'
import { allTextOf } from '../content.ts'
import type { Profile } from '../profile.ts'
import type { CheckedEntry, ReportEntryProblem } from './entry.ts'
import { isEmptyMessage } from './shape-message.ts'

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
      phrase('A message has neither words nor calls.', 'メッセージに内容も呼び出しもありません。'),
      phrase('leaves the message out', 'メッセージを省く'),
    )
    return false
  })
}

/** Instructions in one message before all others. */
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
      `${profile.label} takes instructions only in one message before all others.`,
      `${profile.label} は、先頭の 1 メッセージにある指示だけを受け付けます。`,
    )
    report(entry, '', 'system_position', what, phrase('joins them there', '先頭にまとめる'))
  }
  const content = [first, ...more].map(({ message }) => allTextOf(message['content'])).join('\n\n')
  const joined = more.length === 0 ? first : { ...first, message: { ...first.message, content } }
  return [joined, ...entries.filter((entry) => !isSystem(entry))]
}

/** What follows the last thing to be learned teaches nothing. */
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
      phrase('Training ends with a message of the assistant.', '学習例は assistant のメッセージで終わります。'),
      phrase('leaves the message out', 'メッセージを省く'),
    )
  return entries.slice(0, end)
}
