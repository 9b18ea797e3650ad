/** Brings messages into an order that a server takes. */

import { allTextOf } from '../content.ts'
import type { Profile } from '../profile.ts'
import type { Entry, ReportAt } from './entry.ts'
import { saysNothing } from './message.ts'

export function dropSilent(entries: readonly Entry[], profile: Profile, report: ReportAt): readonly Entry[] {
  return entries.filter((entry) => {
    if (!saysNothing(entry.message, profile)) return true
    const code = entry.message['content'] === '' ? 'content_empty' : 'content_missing'
    report(entry, '.content', code, 'A message has neither words nor calls.', 'leaves the message out')
    return false
  })
}

/** Instructions in one message before all others. */
export function joinSystem(entries: readonly Entry[], profile: Profile, report: ReportAt): readonly Entry[] {
  const isSystem = ({ message }: Entry): boolean => message['role'] === 'system'
  const [first, ...more] = entries.filter(isSystem)
  if (profile.system === 'anywhere' || !first || (first === entries[0] && more.length === 0)) return entries
  for (const entry of first === entries[0] ? more : [first, ...more]) {
    const what = `${profile.label} takes instructions only in one message before all others.`
    report(entry, '', 'system_position', what, 'joins them there')
  }
  const content = [first, ...more].map(({ message }) => allTextOf(message['content'])).join('\n\n')
  const joined = more.length === 0 ? first : { ...first, message: { ...first.message, content } }
  return [joined, ...entries.filter((entry) => !isSystem(entry))]
}

/** What follows the last thing to be learned teaches nothing. */
export function cutEnd(entries: readonly Entry[], profile: Profile, report: ReportAt): readonly Entry[] {
  if (!profile.endsWithAssistant) return entries
  const end = entries.findLastIndex(({ message }) => message['role'] === 'assistant') + 1
  for (const entry of entries.slice(end))
    report(entry, '', 'end_not_assistant', 'Training ends with a message of the assistant.', 'leaves the message out')
  return entries.slice(0, end)
}
